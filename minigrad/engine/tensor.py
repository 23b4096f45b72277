"""Tensor: an array, its gradient, and its place on the tape.

A Tensor follows NumPy. Its operators, its methods and NumPy's own functions (``np.exp(t)``) all look up the same
registry, which maps a NumPy function to the primitive that knows its derivative.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..device import to_host
from ..errors import DTypeError, GraphError, ShapeError
from . import observers
from .arrays import NUMBERS, as_array, owned_copy
from .hooks import Hooked, hooks_of
from .methods import ArrayMethods, plain_array
from .modes import enable_grad
from .observers import one_at_a_time
from .protocols import Protocols
from .tape import Entry, Leaf, Output, sweep
from .types import Array, Node

T = TypeVar("T", bound="Tensor")


class Tensor(ArrayMethods["Tensor"], Protocols, Hooked):
    """An array that can be differentiated.

    Args:
        data: anything ``np.asarray`` takes, with the dtype it would give (Python floats are float64), or a device array.
        requires_grad: record the operations on this tensor, so that ``backward()`` fills in its ``grad``.
        dtype: convert to this dtype.
        name: shown in graphs and messages.
        copy: ``False`` shares memory with ``data``: a later write to either changes both. Together with ``requires_grad``
            every operation is recorded more slowly while this tensor lives, so that ``backward()`` can see such a write.

    Raises:
        DTypeError: ``requires_grad`` with integers or booleans, which have no derivative; data that is not numbers.

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

    _array: Array  # not _data: that is where numpy.ma looks for the array of anything
    _node: Node  # Entry, Leaf or Output; None if no gradient is required
    _grad: Tensor | None
    name: str | None

    def __init__(
        self, data: Any, requires_grad: bool = False, *, dtype: Any = None, name: str | None = None, copy: bool = True
    ) -> None:
        if isinstance(data, Tensor):
            data = plain_array(data, "Tensor() of", "use it itself, or pass t.detach()")
        self._array = as_array(data, dtype, copy or None)
        self._node = None
        self._grad = None
        self.name = name
        if requires_grad:
            self.requires_grad = True
            if not copy and isinstance(data, np.ndarray) and np.may_share_memory(self._array, data):
                for told in observers.leaf_shared:
                    told(self._node)

    # What it is

    @property
    def data(self) -> Any:
        """The array itself, outside of differentiation. ``t.data -= ...`` changes it in place.

        ``backward()`` of what was computed from it before such a change raises, if it needs the old values.
        """
        for told in observers.handed_out:
            told(self)
        return self._array

    @data.setter
    def data(self, value: Any) -> None:
        if type(self._node) in (Entry, Output):
            raise GraphError(f"data of {self._describe()} cannot be replaced: it was computed; replace data of a leaf")
        if isinstance(value, Tensor):
            value = plain_array(value, "t.data =", "assign u.detach()")
        if value is self._array:
            return
        array = as_array(value)
        old = self._array
        if self._node is not None and (array.shape, array.dtype, type(array)) != (old.shape, old.dtype, type(old)):
            _check_differentiable(array.dtype)
            hooks = self._node.hooks
            self._node = Leaf(self, array.shape, array.dtype)  # graphs recorded before keep the old leaf
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
        given = self._cotangent(value, "grad")
        if isinstance(given, Tensor) and given._node is not None:
            self._grad = at_new_node(given)  # as backward(create_graph=True) leaves it
            return
        array = given._array if isinstance(given, Tensor) else given
        self._grad = make_tensor(array.astype(self.dtype), None)

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
            _check_differentiable(self.dtype)
            self._node = Leaf(self, self.shape, self.dtype)

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor was given rather than computed on the tape."""
        return type(self._node) not in (Entry, Output)

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    @property
    def size(self) -> int:
        return int(self._array.size)

    def numpy(self) -> Any:
        """The values as a NumPy array, outside of differentiation (on the host it shares this tensor's memory)."""
        for told in observers.handed_out:
            told(self)
        return to_host(self._array)

    def item(self) -> Any:
        """The value of a tensor of one element as a Python number."""
        if self.size != 1:
            raise ShapeError(f"item() needs a tensor of one element, got shape {self.shape}")
        return to_host(self._array).item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return to_host(self._array).tolist()

    def detach(self) -> Tensor:
        """The same array, cut off from the tape."""
        return make_tensor(self._array, None)

    def _describe(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"the tensor{name} of shape {self.shape} and dtype {self.dtype}"

    # Differentiation

    def backward(self, grad: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Add the gradient of this tensor with respect to every leaf it was computed from to that leaf's ``grad``.

        Args:
            grad: the gradient of some scalar with respect to this tensor (the cotangent), of its shape; 1 by default,
                for a tensor of one element.
            retain_graph: keep what the entries keep, so that ``backward()`` can be called again.
            create_graph: record the backward pass too, so that the gradients can themselves be differentiated.

        Raises:
            GraphError: nothing was recorded, the graph was freed already, or ``grad`` is missing for a non-scalar.
            ShapeError: ``grad`` has another shape. On any of these no gradient has been changed.
        """
        if self._node is None:
            raise GraphError(
                f"backward() on {self._describe()}, which does not require a gradient: it was not computed "
                "from a tensor with requires_grad=True, or was computed under no_grad()"
            )
        cotangent = self._cotangent(grad)
        if create_graph:
            with enable_grad():
                self._sweep(cotangent if isinstance(cotangent, Tensor) else make_tensor(cotangent, None), True, True)
        else:
            self._sweep(cotangent._array if isinstance(cotangent, Tensor) else cotangent, retain_graph, False)

    @np.errstate(all="ignore")  # inf - inf of two passes is NaN, as of two paths in one
    def _sweep(self, cotangent: Array, retain_graph: bool, create_graph: bool) -> None:
        owned: set[Node] = set()
        gradients = sweep({self._node: cotangent}, retain_graph=retain_graph, create_graph=create_graph, owned=owned)
        arrivals: list[tuple[Tensor, Array, bool]] = []
        for leaf, g in gradients.items():
            if type(leaf) is Entry:
                arrivals += [(*arrival, False) for arrival in hooks_of(leaf).arrivals(g)]  # retain_grad()
                continue
            if (tensor := leaf.tensor) is None:
                continue  # nobody holds it any more
            if tensor._node is not leaf:
                raise GraphError(
                    f"{tensor._describe()} had shape {leaf.shape} and dtype {leaf.dtype} and required a gradient when this "
                    "graph was recorded: its data was replaced or requires_grad switched since; run the forward pass again"
                )
            arrivals.append((tensor, g, leaf in owned and leaf.hooks is None))
        one_at_a_time.acquire()  # other sweeps may arrive at the same leaves; `with` costs twice as much
        try:
            for tensor, g, alone in arrivals:
                Tensor._accumulate(tensor, g, alone)
        finally:
            one_at_a_time.release()

    def _cotangent(self, grad: Any, what: str = "backward(grad=...)") -> Any:
        """``grad`` as an array or Tensor of this tensor's dtype, once it is clear that it can be its cotangent."""
        if grad is None:
            if self._array.size != 1:
                raise GraphError(
                    f"backward() on a tensor of shape {self.shape} needs grad, the gradient of a scalar with respect to it, "
                    "of that shape: sum() or mean() it first, or pass grad=np.ones_like(t)"
                )
            return np.ones_like(self._array)
        plain = type(grad) is np.ndarray and grad.dtype.kind in NUMBERS
        array = grad if plain or isinstance(grad, Tensor) else as_array(grad)
        if array.shape != self.shape:
            raise ShapeError(f"{what} got shape {array.shape} for a tensor of shape {self.shape}")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise DTypeError(f"{what} got dtype {array.dtype} for a real tensor of dtype {self.dtype}")
        return array if array.dtype == self.dtype else array.astype(self.dtype)

    def _accumulate(self, g: Array, owned: bool = False) -> None:
        """Add a gradient that has arrived. ``grad`` stays one object, owned by this tensor alone."""
        before = self._grad
        if isinstance(g, Tensor):  # create_graph: it is itself on the tape, so it is rebound, never added into
            self._grad = at_new_node(g) if before is None else before + g
        elif before is None:
            self._grad = make_tensor(g if owned and _whole(g) else owned_copy(g), None)
        elif before._node is not None:
            self._grad = make_tensor(before._array + g, None)
        else:
            before._array += g

    def zero_grad(self) -> None:
        """Forget the gradient: ``grad`` becomes None."""
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
    """A Tensor around ``array`` at ``node``, without the checks and the copy of the constructor."""
    tensor = _new(Tensor)
    tensor._array = array
    tensor._node = node
    tensor._grad = None
    tensor.name = None
    return tensor


def at_new_node(tensor: Tensor) -> Tensor:
    """The same value at a new node of the tape, which leads to the old one: somebody else's, or the end of a sweep."""
    return +tensor


def _rebuild(kind: type[T], data: Any, requires_grad: bool, name: str | None, grad: Any) -> T:
    tensor = _new(kind)
    Tensor.__init__(tensor, data, name=name, copy=False)
    tensor.requires_grad = requires_grad
    tensor.grad = grad
    return tensor


def _check_differentiable(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "fc":
        raise DTypeError(
            f"requires_grad=True needs a floating or complex dtype, got {dtype}, which has no derivative: "
            "pass floats (2.0 rather than 2) or dtype=float"
        )


def _whole(array: Array) -> bool:
    """Whether the array lies in order in memory of its own that can be written to, and keeps no larger one alive."""
    if not array.flags.c_contiguous or not getattr(array.flags, "writeable", True):  # CuPy's arrays always are
        return False
    return array.base is None or getattr(array.base, "size", -1) == array.size
