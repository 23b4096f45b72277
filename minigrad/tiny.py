"""Reverse-mode automatic differentiation of NumPy programs in one file, which shows the idea of minigrad. Read it first.

    w = tiny.Tensor([1.0, 2.0], requires_grad=True)
    loss = np.sum(np.tanh(w) * w)
    loss.backward()  # now w.grad.data is [1.1815685, 1.10532923]

The forward pass writes a *tape*, which has one *entry* for each operation:

    operation   parents                             kept for the backward pass
    tanh        the leaf of w                       ans, the answer of tanh
    multiply    the entry of tanh, the leaf of w    x and y, the arguments of multiply
    sum         the entry of multiply               a, the argument of sum

The backward pass reads the tape from its end and computes *cotangents*: the cotangent of a value is the gradient of the loss
with respect to it. A *rule* (see the end of this file) computes an argument's cotangent from ``g``, the answer's cotangent.
"""

import inspect
import itertools
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

registry: dict[Any, "Primitive"] = {}  # for each NumPy function, the primitive that runs if an argument is a Tensor
counter = itertools.count()  # next(counter) gives 0, 1, 2, ...


class Tensor(np.lib.mixins.NDArrayOperatorsMixin):  # this base class defines operators: x + y calls np.add(x, y)
    # An array, its gradient, and its node: the place on the tape where the array was made. A constant has no node.
    def __init__(self, data: Any, requires_grad: bool = False, node: Any = None) -> None:
        self.data = np.asarray(data, float)
        self.shape = self.data.shape
        self.grad: Any = None
        self.node = Leaf(self) if requires_grad else node

    # NumPy calls these two methods for np.tanh(x) and np.sum(x, axis=0). After NotImplemented, NumPy raises a TypeError.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> Any:
        return registry[ufunc](*inputs) if method == "__call__" and ufunc in registry else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: Any, keywords: Any) -> Any:
        return registry[function](*inputs, **keywords) if function in registry else NotImplemented

    def backward(self, create_graph: bool = False) -> None:
        """Add the gradient of this number to the ``grad`` of each leaf. ``create_graph`` records the gradients, too."""
        if self.data.size != 1 or self.node is None:
            raise ValueError("backward() starts from one number that was computed from a leaf: np.sum() an array first")
        for leaf, g in sweep(self.node, Tensor(np.ones(self.shape)), create_graph).items():
            tensor = leaf.owner()
            if tensor is not None:
                tensor.grad = g if tensor.grad is None else tensor.grad + g


class Leaf:  # the node of a Tensor that the user created; gradients arrive at leaves
    def __init__(self, tensor: Tensor) -> None:
        self.shape = tensor.shape
        self.owner = weakref.ref(tensor)  # owner() is the Tensor, or None once the program has dropped it


@dataclass(eq=False)  # eq=False: an entry is equal only to itself
class Entry:  # the node of a Tensor that an operation computed, and the record of this operation
    seq: int  # the number of the operation in the order of execution
    primitive: "Primitive"
    parents: dict[str, Any]  # the node of each argument, by the argument's name; constants are left out
    kept: dict[str, Any]  # the arrays that the rules of these parents will read, by their names
    keywords: dict[str, Any]
    shape: tuple[int, ...]


class Primitive:  # a NumPy function and its rules: x=rule computes the cotangent of the argument x
    def __init__(self, function: Any, **rules: Any) -> None:
        self.function = function
        self.rules = rules  # by the names of the arguments, in the order of the arguments
        # The parameters of a rule are g, the arrays that it reads (arguments, or the answer "ans"), and keywords.
        self.parameters = {argument: list(inspect.signature(rule).parameters) for argument, rule in rules.items()}

    def __call__(self, *inputs: Any, **keywords: Any) -> Tensor:
        tensors = [value if isinstance(value, Tensor) else Tensor(value) for value in inputs]
        arrays = [t.data for t in tensors]
        ans = self.function(*arrays, **keywords)
        parents = {argument: t.node for argument, t in zip(self.rules, tensors) if t.node is not None}
        values = {"ans": ans, **dict(zip(self.rules, arrays))}  # the arrays that a rule can read, by their names
        kept = {name: values[name] for argument in parents for name in self.parameters[argument] if name in values}
        node = Entry(next(counter), self, parents, kept, keywords, ans.shape) if parents else None
        return Tensor(ans, node=node)


def wengert_list(node: Any) -> list[Entry]:
    """Return the tape of a node: every entry that led to it, in the order of execution."""
    found = set()
    waiting = [node]
    while waiting:  # recursion would be too deep for a long tape
        node = waiting.pop()
        if isinstance(node, Entry) and node not in found:
            found.add(node)
            waiting.extend(node.parents.values())
    return sorted(found, key=lambda entry: entry.seq)


def sweep(node: Any, cotangent: Tensor, create_graph: bool) -> dict[Leaf, Tensor]:
    """Return the cotangents of the leaves from which ``node`` was computed."""
    arrived = {node: cotangent}
    for entry in reversed(wengert_list(node)):
        g = arrived.pop(entry)  # complete, because all operations that used this answer were executed later
        # The rules compute with Tensors: with constants, or for create_graph with Tensors at their old nodes on the tape.
        nodes = {"ans": entry, **entry.parents} if create_graph else {}
        kept = {name: Tensor(array, node=nodes.get(name)) for name, array in entry.kept.items()}
        for argument, parent in entry.parents.items():
            read = {name: kept[name] for name in entry.primitive.parameters[argument] if name in kept}
            contribution = entry.primitive.rules[argument](g, **read, **entry.keywords)
            contribution = unbroadcast(contribution, parent.shape)
            arrived[parent] = arrived[parent] + contribution if parent in arrived else contribution
    return arrived


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum ``g`` over the axes that broadcasting added to an array of this ``shape``, or stretched from length 1."""
    added = range(len(g.shape) - len(shape))  # NumPy adds axes in front
    stretched = [i for i, length in enumerate(shape) if length == 1]  # if there are none, a sum changes nothing
    return np.sum(np.sum(g, axis=tuple(added)), axis=tuple(stretched), keepdims=True)


def sum_rule(g: Any, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis=axis)  # gives the axes back that the sum removed
    return np.broadcast_to(g, shape=a.shape)


def matmul(x: Any, y: Any) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("np.matmul takes matrices here: give a vector an axis of length 1 with np.expand_dims")
    return np.matmul(x, y)


# The rules call only functions of this list, so each rule can be differentiated, too.
mT = np.matrix_transpose  # swaps the last two axes
registry[np.add] = Primitive(np.add, x=lambda g: g, y=lambda g: g)
registry[np.subtract] = Primitive(np.subtract, x=lambda g: g, y=lambda g: -1.0 * g)
registry[np.multiply] = Primitive(np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)
registry[np.divide] = Primitive(np.divide, x=lambda g, y: g / y, y=lambda g, ans, y: -1.0 * g * ans / y)
registry[np.exp] = Primitive(np.exp, x=lambda g, ans: g * ans)
registry[np.log] = Primitive(np.log, x=lambda g, x: g / x)
registry[np.tanh] = Primitive(np.tanh, x=lambda g, ans: g * (1.0 - ans * ans))
registry[np.sum] = Primitive(np.sum, a=sum_rule)
registry[np.expand_dims] = Primitive(np.expand_dims, a=lambda g, axis: np.sum(g, axis=axis))
registry[np.broadcast_to] = Primitive(np.broadcast_to, array=lambda g, shape: g)  # the sweep calls unbroadcast
registry[mT] = Primitive(mT, x=lambda g: mT(g))
registry[np.matmul] = Primitive(matmul, x=lambda g, y: g @ mT(y), y=lambda g, x: mT(x) @ g)
# docs/read-the-source.md explains this file part by part, and then shows the same parts in the full engine.
