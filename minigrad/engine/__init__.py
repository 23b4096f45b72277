"""The engine. Read its files in this order: tape, tensor, plan, primitive.

    tape.py        defines an entry, and the sweep that walks the entries backwards
    tensor.py      defines Tensor: an array, its gradient and its node of the tape
    plan.py        decides which values a recorded call keeps, and pulls a cotangent back through the call
    primitive.py   declares, calls and records an operation

The other files are details: modes (no_grad), hooks, observers (callbacks for tools that watch), methods and protocols (the
interface of a NumPy array), arrays (the values that may be operands), fitting (the results of rules), functions and signatures
(calls of NumPy functions), kernels (faster implementations), messages (the texts of errors), registry and types.

New code goes elsewhere: an operation to rules/, a view to graph/ (as an observer, see observers.py), a kernel to kernels/
(with Primitive.kernel), the arrays of another library to device.py. Only a new kind of hook goes to hooks.py.
"""
