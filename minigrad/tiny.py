"""Reverse-mode automatic differentiation of NumPy programs in one file, which shows the idea of minigrad. Read it first.

    w = tiny.Tensor([1.0, 2.0], requires_grad=True)
    np.sum(np.tanh(w) * w).backward()  # now w.grad.data is [1.1815685, 1.10532923]

The forward pass makes one *entry* for each operation. An entry points to its *parents*: the entries that computed its
arguments, or the *leaf* of a Tensor that you created. No list is kept, because the parents lead to all entries, the *tape*:

    operation   parents                             kept for the backward pass
    tanh        the leaf of w                       ans, the answer of tanh
    multiply    the entry of tanh, the leaf of w    x and y, the arguments of multiply
    sum         the entry of multiply               a, the argument of sum

The backward pass reads the tape from its end. It computes the *cotangent* of each value, which is the gradient of the loss
with respect to it. A *rule* is the chain rule for one argument: it turns ``g``, the answer's cotangent, into the argument's.
The rule for x in x * y is ``lambda g, y: g * y``. Its parameters say that it reads y, so the entry keeps y.
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
    # An array, its gradient, and its node: the Entry or the Leaf that it comes from. A constant has no node.
    def __init__(self, data: Any, requires_grad: bool = False, node: Any = None) -> None:
        self.data = np.asarray(data, float)
        self.shape = self.data.shape
        self.grad: Any = None
        self.node = Leaf(self) if requires_grad else node

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> Any:  # for np.tanh(x)
        return registry[ufunc](*inputs) if method == "__call__" and ufunc in registry else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: Any, keywords: Any) -> Any:  # for np.sum(x)
        return registry[function](*inputs, **keywords) if inputs and function in registry else NotImplemented

    def backward(self, create_graph: bool = False) -> None:
        """Add this number's gradient to the ``grad`` of each leaf. With ``create_graph``, it can be differentiated again."""
        if self.data.size != 1 or self.node is None:
            raise ValueError("backward() starts from one number that was computed from a leaf: np.sum() an array first")
        for leaf, g in sweep(self.node, Tensor(np.ones(self.shape)), create_graph).items():
            tensor = leaf.owner()
            if tensor is not None:
                tensor.grad = g if tensor.grad is None else tensor.grad + g


class Leaf:  # the node of a Tensor that you created; gradients arrive at leaves
    def __init__(self, tensor: Tensor) -> None:
        self.shape = tensor.shape
        self.owner = weakref.ref(tensor)  # owner() is the Tensor, or None: a tape keeps no Tensor alive


@dataclass(eq=False)  # eq=False: an entry is equal only to itself, and can be in a set
class Entry:  # the node of a Tensor that an operation computed, and the record of this operation
    seq: int  # the number of the operation in the order of execution
    primitive: "Primitive"
    parents: dict[str, Any]  # the node of each argument, by the argument's name; constants are left out
    kept: dict[str, Any]  # the arrays that the rules for these arguments will read, by their names
    keywords: dict[str, Any]
    shape: tuple[int, ...]


class Primitive:  # a NumPy function and its rules: x=rule computes the cotangent of the argument x
    def __init__(self, function: Any, **rules: Any) -> None:
        self.function = function
        self.rules = rules  # by the names of the arguments, in the order of the arguments
        # The names of the arrays that each rule reads. Its other parameters are g and keywords, such as axis.
        self.reads = {name: {"ans", *rules} & set(inspect.signature(rule).parameters) for name, rule in rules.items()}

    def __call__(self, *inputs: Any, **keywords: Any) -> Tensor:
        tensors = [value if isinstance(value, Tensor) else Tensor(value) for value in inputs]
        arrays = [t.data for t in tensors]
        ans = self.function(*arrays, **keywords)
        parents = {argument: t.node for argument, t in zip(self.rules, tensors) if t.node is not None}
        values = {"ans": ans, **dict(zip(self.rules, arrays))}  # the arrays that a rule can read, by their names
        kept = {name: values[name] for argument in parents for name in self.reads[argument]}
        node = Entry(next(counter), self, parents, kept, keywords, ans.shape) if parents else None
        return Tensor(ans, node=node)


def wengert_list(node: Any) -> list[Entry]:
    """Return the tape of a node, also called its Wengert list: the entries that led to it, in the order of execution."""
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
        g = arrived.pop(entry)  # complete: what used this answer was executed later, so `reversed` gave it first
        # Rules compute with Tensors. With create_graph, these get their old nodes, so that what a rule computes is recorded.
        nodes = {"ans": entry, **entry.parents} if create_graph else {}
        kept = {name: Tensor(array, node=nodes.get(name)) for name, array in entry.kept.items()}
        for argument, parent in entry.parents.items():
            read = {name: kept[name] for name in entry.primitive.reads[argument]}
            contribution = unbroadcast(entry.primitive.rules[argument](g, **read, **entry.keywords), parent.shape)
            # A value that was used twice changes the loss in two ways, and the two contributions add.
            arrived[parent] = arrived[parent] + contribution if parent in arrived else contribution
    return arrived  # only leaves are left


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting from this ``shape``: an element that was used many times gets the sum of all contributions."""
    added = range(len(g.shape) - len(shape))  # NumPy adds axes in front
    short = [i for i, length in enumerate(shape) if length == 1]  # may be longer in g; if not, a sum changes nothing
    return np.sum(np.sum(g, axis=tuple(added)), axis=tuple(short), keepdims=True)  # a sum over no axis, (), neither


def sum_rule(g: Any, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    g = g if axis is None or keepdims else np.expand_dims(g, axis=axis)  # gives the axes back that the sum removed
    return np.broadcast_to(g, shape=a.shape)


def matmul(x: Any, y: Any) -> Any:
    if x.ndim < 2 or y.ndim < 2:  # the rules of matmul below are those of matrices
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
# For matrices, ans[i, k] is the sum of x[i, j] * y[j, k] over j. So x[i, j] gets the sum of g[i, k] * y[j, k] over k.
registry[np.matmul] = Primitive(matmul, x=lambda g, y: g @ mT(y), y=lambda g, x: mT(x) @ g)
# docs/read-the-source.md explains this file part by part, and then shows the same parts in the full engine.
