"""The engine. Read it in this order: tape, tensor, plan, primitive; then, if speed is what you came for, operators.

    tape.py        what an entry is, and the sweep that walks the entries backwards
    tensor.py      Tensor: an array, its gradient, its place on the tape
    plan.py        what a recorded call keeps for its backward, and how a cotangent is pulled back through it
    primitive.py   an operation: declared, called, recorded
    operators.py   the same, specialised for x * y and x.tanh()

What stands beside these need not be read: modes (no_grad), hooks, observers (who may watch), methods and protocols (what an
array of NumPy has), arrays (what may be an operand), signatures and binding (NumPy's ways to call), functions (NumPy functions
that are no primitives), kernels (who computes), messages (what an error says), registry and types.

What is new goes elsewhere: an operation to rules/, a view to graph/ (as an observer of observers.py), a kernel to kernels/
(by Primitive.kernel), another library's arrays to device.py. Only a new kind of hook is for hooks.py.
"""
