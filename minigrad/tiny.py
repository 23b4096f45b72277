"""Reverse-mode automatic differentiation of NumPy programs in one file, which shows the idea of minigrad. Read it first.

    w = tiny.Tensor([1.0, 2.0], requires_grad=True)
    np.sum(np.tanh(w) * w).backward()  # now w.grad.data is [1.1815685, 1.10532923]

An *entry* is one recorded operation. Its *parents* are the nodes of its inputs, and it has *kept* the values that its *rules*
will read. The *cotangent* of an array is the gradient of the loss with respect to it. A rule (a vector-Jacobian product) makes
the cotangent of one input from ``g``, the cotangent of the output. The full engine uses the same words.
"""

import inspect
import itertools
import weakref
from typing import Any

import numpy as np

registry: dict[Any, "Primitive"] = {}  # the primitive that NumPy calls instead of a function if an argument is a Tensor
count = itertools.count()


class Leaf:  # the node of a Tensor that the user made; gradients arrive at leaves
    def __init__(self, tensor: "Tensor") -> None:
        self.shape, self.owner = tensor.shape, weakref.ref(tensor)  # weak, so that a tape keeps no Tensor alive


class Entry:  # one operation: its number in the order of execution, its parents (None for a constant), its kept values
    def __init__(self, primitive: "Primitive", parents: list[Any], kept: dict[str, Any], shape: Any) -> None:
        self.seq, self.primitive, self.parents, self.kept, self.shape = next(count), primitive, parents, kept, shape


class Tensor(np.lib.mixins.NDArrayOperatorsMixin):  # an array, its gradient and its node; x + y calls np.add(x, y)
    def __init__(self, data: Any, requires_grad: bool = False, node: Entry | None = None) -> None:
        self.data = np.asarray(data, float)
        self.shape, self.grad = self.data.shape, None
        self.node: Any = Leaf(self) if requires_grad else node  # None for a constant

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **keywords: Any) -> Any:  # for np.tanh(x)
        return registry[ufunc](*args, **keywords) if ufunc in registry and method == "__call__" else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:  # for np.sum(x)
        return registry[function](*args, **keywords) if function in registry else NotImplemented

    def backward(self, create_graph: bool = False) -> None:
        """Add the gradient of this number with respect to each leaf to the leaf's ``grad``. ``create_graph`` records it."""
        if self.data.size != 1 or not isinstance(self.node, Entry):
            raise ValueError("backward() starts from one number that was computed from a leaf: np.sum() an array first")
        one: Any = Tensor(np.ones(self.shape)) if create_graph else np.ones(self.shape)
        for leaf, g in sweep(self.node, one, create_graph).items():
            if (tensor := leaf.owner()) is not None:
                tensor.grad = Tensor(0.0) + g if tensor.grad is None else tensor.grad + g


class Primitive:  # a NumPy function, the defaults of its keywords, and one rule for each of its array arguments
    # The parameter names of a rule name the values that an entry keeps: ans (the output), an argument, its shape, a keyword.
    def __init__(self, function: Any, defaults: dict[str, Any] | None = None, **rules: Any) -> None:
        self.function, self.defaults, registry[function] = function, defaults or {}, self
        self.rules = {name: (rule, list(inspect.signature(rule).parameters)[1:]) for name, rule in rules.items()}

    def __call__(self, *args: Any, **keywords: Any) -> Tensor:
        names = [*self.rules, *self.defaults]
        arguments = {**self.defaults, **dict(zip(names, args)), **keywords}
        if arguments.keys() != set(names) or len(args) > len(names):
            raise TypeError(f"{self.function.__name__} of a Tensor takes {names}, got {len(args)} and {list(keywords)}")
        inputs = [arguments.pop(name) for name in self.rules]  # the arrays; `arguments` now has the keywords only
        arrays = [t.data if isinstance(t, Tensor) else np.asarray(t, float) for t in inputs]
        parents = [t.node if isinstance(t, Tensor) else None for t in inputs]
        if self.function is np.matmul and min(array.ndim for array in arrays) < 2:
            raise ValueError("np.matmul takes matrices here: give a vector an axis of length 1 with np.expand_dims")
        ans = self.function(*arrays, **arguments)
        values = {"ans": ans, **arguments, **dict(zip(self.rules, arrays))}
        values |= {f"{name}_shape": array.shape for name, array in zip(self.rules, arrays)}
        kept = {name: values[name] for node, (_, names) in zip(parents, self.rules.values()) if node for name in names}
        return Tensor(ans, node=Entry(self, parents, kept, ans.shape) if any(parents) else None)


def wengert_list(node: Entry) -> list[Entry]:
    """Return every entry that led to ``node``, in the order of execution. A long tape would be too deep for recursion."""
    visited, waiting = {node}, [node]
    while waiting:
        new = {parent for parent in waiting.pop().parents if isinstance(parent, Entry)} - visited
        visited |= new
        waiting += new
    return sorted(visited, key=lambda entry: entry.seq)


def sweep(node: Entry, cotangent: Any, create_graph: bool) -> dict[Any, Any]:
    """Walk the tape backwards. All users of an entry's output come before the entry, so its cotangent is then complete."""
    arrived: dict[Any, Any] = {node: cotangent}
    for entry in reversed(wengert_list(node)):
        g, kept, rules = arrived.pop(entry), entry.kept, entry.primitive.rules
        if create_graph:  # turn the kept arrays into Tensors at their nodes, so that the rules are recorded
            nodes = {**dict(zip(rules, entry.parents)), "ans": entry}
            kept = {name: Tensor(value, node=nodes[name]) if name in nodes else value for name, value in kept.items()}
        for parent, (rule, names) in zip(entry.parents, rules.values()):
            if parent is not None:
                contribution = unbroadcast(rule(g, *[kept[name] for name in names]), parent.shape)
                arrived[parent] = arrived[parent] + contribution if parent in arrived else contribution
    return arrived  # now it has the cotangents of leaves only


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which an input of ``shape`` was broadcast. The sweep calls this, so that rules need not."""
    g = np.sum(g, axis=tuple(range(len(g.shape) - len(shape))))  # a sum over no axis changes nothing
    return np.sum(g, axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


Primitive(np.add, x=lambda g: g, y=lambda g: g)
Primitive(np.subtract, x=lambda g: g, y=lambda g: -1.0 * g)
Primitive(np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)
Primitive(np.divide, x=lambda g, y: g / y, y=lambda g, ans, y: -1.0 * g * ans / y)
Primitive(np.exp, x=lambda g, ans: g * ans)
Primitive(np.log, x=lambda g, x: g / x)
Primitive(np.tanh, x=lambda g, ans: g * (1.0 - ans * ans))
Primitive(np.matmul, x=lambda g, y: g @ np.swapaxes(y, -1, -2), y=lambda g, x: np.swapaxes(x, -1, -2) @ g)
Primitive(np.swapaxes, {"axis1": None, "axis2": None}, a=lambda g, axis1, axis2: np.swapaxes(g, axis1, axis2))
Primitive(np.expand_dims, {"axis": None}, a=lambda g, axis: np.sum(g, axis))
Primitive(np.broadcast_to, {"shape": None}, array=lambda g: g)
Primitive(np.sum, {"axis": None, "keepdims": False}, a=lambda g, a_shape, axis, keepdims:
          np.broadcast_to(g if keepdims or axis is None else np.expand_dims(g, axis), a_shape))  # fmt: skip
