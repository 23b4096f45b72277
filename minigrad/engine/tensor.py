"""A Tensor is an array with a gradient and a node of the tape.

A Tensor follows NumPy. Its operators, its methods and NumPy's own functions (``np.exp(t)``) look up one registry, which maps
a NumPy function to the primitive with its derivative.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..errors import DTypeError, GraphError, ShapeError, UnsupportedError
from . import observers
from .arrays import NUMBERS, as_array, check_differentiable, copied
from .hooks import Hooked, hooks_of
from .methods import ArrayMethods, untracked_array
from .modes import ensure_recording
from .observers import one_at_a_time
from .protocols import Protocols
from .tape import Entry, Leaf, Output, Sweep
from .types import Array, Node, TensorLike

T = TypeVar("T", bound="Tensor")


class Tensor(ArrayMethods["Tensor"], Protocols, Hooked):
    """An array that can be differentiated.

    Args:
        data: an argument of ``np.asarray``, or an array of CuPy. The dtype is NumPy's (Python floats become float64).
        requires_grad: record the operations on this tensor, so that ``backward()`` fills in its ``grad``.
        dtype: convert to this dtype.
        name: shown in graphs and messages.
        copy: ``False`` shares memory with ``data``, so that a later write to either changes both. If ``requires_grad`` is
            also set, recording is slower while this tensor exists, because ``backward()`` must detect such a write.

    Raises:
        DTypeError: ``data`` does not consist of numbers, or ``requires_grad`` is set for integers or booleans, which have
            no derivative.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0, 3.0], requires_grad=True)
        >>> y = np.sum(x * x)
        >>> y.backward()
        >>> x.grad
        Tensor([2., 4., 6.])
    """

    __slots__ = ("__weakref__", "_array", "_grad", "_node", "name")

    _array: Array  # not called _data, because numpy.ma reads the attribute _data of every object
    _node: Node  # Entry, Leaf or Output; None if no gradient is required
    _grad: Tensor | None
    name: str | None

    def __init__(
        self, data: Any, requires_grad: bool = False, *, dtype: Any = None, name: str | None = None, copy: bool = True
    ) -> None:
        if isinstance(data, Tensor):
            data = untracked_array(data, "Tensor() of", "use it itself, or pass t.detach()")
        self._array = as_array(data, dtype, copy or None)  # None copies if it must
        self._node = None
        self._grad = None
        self.name = name
        if requires_grad:
            self.requires_grad = True
            if not copy and isinstance(data, np.ndarray) and np.may_share_memory(self._array, data):
                for callback in observers.leaf_shared:
                    callback(self._node)

    # Attributes

    @property
    def data(self) -> Any:
        """The array itself. The tape does not record operations on it, and ``t.data -= ...`` changes it in place.

        If ``backward()`` needs the values from before such a change, it raises GraphError.
        """
        for callback in observers.handed_out:
            callback(self)
        return self._array

    @data.setter
    def data(self, value: Any) -> None:
        if type(self._node) in (Entry, Output):
            raise GraphError(f"data of {self._describe()} cannot be replaced: it was computed; replace data of a leaf")
        if isinstance(value, Tensor):
            value = untracked_array(value, "t.data =", "assign u.detach()")
        if value is self._array:
            return
        array = as_array(value)
        old = self._array
        if self._node is not None and (array.shape, array.dtype, type(array)) != (old.shape, old.dtype, type(old)):
            check_differentiable(array.dtype)
            hooks = self._node.hooks
            self._node = Leaf(self, array.shape, array.dtype)  # earlier graphs keep the old leaf
            self._node.hooks = hooks
            self._grad = None
        self._array = array

    @property
    def grad(self) -> Tensor | Any:
        """The gradient that ``backward()`` has accumulated here, or None."""
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            self._grad = None
            return
        g = self._cotangent(value, "grad")
        if isinstance(g, Tensor) and g._node is not None:
            self._grad = at_new_node(g)
            return
        self._grad = make_tensor(copied(g._array if isinstance(g, Tensor) else g), None)

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if type(self._node) in (Entry, Output):
            if not value:
                raise GraphError(
                    f"requires_grad of {self._describe()} cannot be switched off: it was computed; use t.detach()"
                )
        elif not value:
            self._node = None
        elif self._node is None:
            check_differentiable(self.dtype)
            self._node = Leaf(self, self.shape, self.dtype)

    @property
    def is_leaf(self) -> bool:
        """Whether the user made this tensor, as opposed to a recorded operation."""
        return type(self._node) not in (Entry, Output)

    def detach(self) -> Tensor:
        """Return a Tensor with the same array that is not on the tape."""
        return make_tensor(self._array, None)

    def _describe(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"the tensor{name} of shape {self.shape} and dtype {self.dtype}"

    # Differentiation

    def backward(self, grad: TensorLike | None = None, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Compute the gradient of this tensor with respect to every leaf it depends on, and add it to the leaf's ``grad``.

        Args:
            grad: the cotangent, which is the gradient of some scalar with respect to this tensor. It has the shape of this
                tensor. The default is 1, for a tensor of one element.
            retain_graph: do not free the values kept for the backward pass, so that ``backward()`` can be called again.
            create_graph: record the backward pass, so that the gradients can be differentiated in turn.

        Raises:
            GraphError: this tensor requires no gradient, the graph was freed already, or ``grad`` is missing for a tensor
                of several elements.
            ShapeError: ``grad`` has another shape than this tensor. After any of these errors no gradient has changed.
        """
        if self._node is None:
            raise GraphError(
                f"backward() on {self._describe()}, which does not require a gradient: it was not computed "
                "from a tensor with requires_grad=True, or was computed under no_grad()"
            )
        cotangent = self._cotangent(grad)
        if create_graph:
            with ensure_recording():
                self._sweep(cotangent if isinstance(cotangent, Tensor) else make_tensor(cotangent, None), True, True)
        else:
            self._sweep(cotangent._array if isinstance(cotangent, Tensor) else cotangent, retain_graph, False)

    @np.errstate(all="ignore")  # the sum of inf and -inf from two passes is NaN without a warning, as within one
    def _sweep(self, cotangent: Array, retain_graph: bool, create_graph: bool) -> None:
        sweep = Sweep({self._node: cotangent}, retain_graph=retain_graph, create_graph=create_graph)
        arrivals: list[tuple[Tensor, Array, bool]] = []
        for node, g in sweep.run().items():
            if type(node) is Entry:
                arrivals += [(*arrival, False) for arrival in hooks_of(node).arrivals(g)]  # retain_grad()
            elif (tensor := node.tensor) is not None:  # it still exists
                if tensor._node is not node:
                    raise GraphError(
                        f"{tensor._describe()} had shape {node.shape} and dtype {node.dtype} and required a gradient when this "
                        "graph was recorded: its data was replaced or requires_grad switched since; run the forward pass again"
                    )
                arrivals.append((tensor, g, node in sweep.owned and node.hooks is None))
        with one_at_a_time:
            for tensor, g, owned in arrivals:
                tensor._accumulate(g, owned)

    def _cotangent(self, grad: Any, what: str = "backward(grad=...)") -> Any:
        """Check that ``grad`` can be the cotangent of this tensor, and return it with the dtype of this tensor."""
        if grad is None:
            if self._array.size != 1:
                raise GraphError(
                    f"backward() on a tensor of shape {self.shape} needs the argument grad, the gradient of a scalar with "
                    "respect to it, of that shape: sum() or mean() it first, or pass grad=np.ones_like(t)"
                )
            return np.ones_like(self._array)
        plain = type(grad) is np.ndarray and grad.dtype.kind in NUMBERS
        array = grad if plain or isinstance(grad, Tensor) else as_array(grad)
        if array.shape != self.shape:
            raise ShapeError(f"{what} has shape {array.shape} for a tensor of shape {self.shape}")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise DTypeError(f"{what} has dtype {array.dtype} for a real tensor of dtype {self.dtype}")
        return array if array.dtype == self.dtype else array.astype(self.dtype)

    def _accumulate(self, g: Array, owned: bool = False) -> None:
        """Add ``g`` to ``grad``, which shares its array with no other tensor. Nothing else refers to an ``owned`` array."""
        before = self._grad
        if isinstance(g, Tensor):  # create_graph: never change it in place
            self._grad = at_new_node(g) if before is None else before + g
        elif before is None:
            self._grad = make_tensor(g if owned and _whole(g) else copied(g), None)
        elif before._node is not None:
            self._grad = make_tensor(before._array + g, None)
        else:
            before._array += g

    def zero_grad(self) -> None:
        """Set ``grad`` to None."""
        self._grad = None

    def __reduce__(self) -> Any:
        if not self.is_leaf:
            raise GraphError(
                f"{self._describe()} was computed on the tape and cannot be copied or pickled: detach() it"
            )
        grad = None if self._grad is None else self._grad._array
        return _rebuild, (type(self), self._array, self.requires_grad, self.name, grad)

    __hash__ = object.__hash__

    @staticmethod
    def _untracked(array: Array) -> Tensor:
        return make_tensor(array, None)


_new = Tensor.__new__


def make_tensor(array: Array, node: Node) -> Tensor:
    """Return a Tensor of ``array`` at ``node``, without the checks and the copy of the constructor."""
    tensor = _new(Tensor)
    tensor._array, tensor._node = array, node
    tensor._grad = tensor.name = None
    return tensor


def as_arrays(ans: Any) -> Any:
    """Turn NumPy scalars in the result into 0-d arrays, which Tensors need. It is a Tensor only if a keyword was one."""
    if isinstance(ans, np.generic):
        return np.asarray(ans)
    if isinstance(ans, Tensor):
        raise UnsupportedError("a primitive takes plain values by keyword, got a Tensor: use t.item() or t.numpy()")
    if isinstance(ans, (tuple, list)):
        return _like(ans, [as_arrays(array) for array in ans])
    return ans


def first_floating(ans: Any) -> Any:
    """Return the first floating output, or the first output if none is floating. Return a single output unchanged."""
    if not isinstance(ans, (tuple, list)):
        return ans
    return next((array for array in ans if array.dtype.kind in "fc"), ans[0])


def outputs(ans: Any, entry: Entry | None) -> Any:
    """Return the result as a Tensor, or as a tuple, namedtuple or list of Tensors if there are several outputs."""
    if not isinstance(ans, (tuple, list)):
        return make_tensor(ans, entry)
    nodes = [
        Output(entry, i, a.shape, a.dtype) if entry is not None and a.dtype.kind in "fc" else None
        for i, a in enumerate(ans)
    ]
    return _like(ans, [make_tensor(array, node) for array, node in zip(ans, nodes)])


def _like(container: Any, items: list[Any]) -> Any:
    kind = type(container)
    return kind(*items) if hasattr(container, "_fields") else kind(items)


def at_new_node(tensor: Tensor) -> Tensor:
    """Return the same value at a new node, whose parent is the old one.

    So ``grad`` shares no node with another tensor, and a sweep can end at an input that is on a tape.
    """
    return +tensor


def _rebuild(kind: type[T], data: Any, requires_grad: bool, name: str | None, grad: Any) -> T:
    tensor = _new(kind)
    Tensor.__init__(tensor, data, name=name, copy=False)
    tensor.requires_grad = requires_grad
    tensor.grad = grad
    return tensor


def _whole(array: Array) -> bool:
    """Whether the array is contiguous and writeable, and is not a view that keeps a larger array alive."""
    alone = array.base is None or getattr(array.base, "size", -1) == array.size
    writeable = getattr(array.flags, "writeable", True)  # arrays of other libraries may lack this flag
    return bool(alone and writeable and array.flags.c_contiguous)
