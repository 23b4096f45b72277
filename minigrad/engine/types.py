"""Names for the types that the files of the engine share. A file may import only from lower layers, so they live here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:  # importing it takes as long as five files of the engine
    from numpy.typing import ArrayLike

# An array of numbers, of any shape and of a dtype that is bool, integer, real or complex: a numpy.ndarray or the array of a
# device. Under create_graph, rules get Tensors instead. It is Any to a type checker, because NumPy's types exclude Tensor.
Array: TypeAlias = Any
# A Tensor, an array, a number or nested lists of numbers: all that np.asarray takes. A Tensor has __array__.
TensorLike: TypeAlias = "ArrayLike"
Node: TypeAlias = Any  # a node of the tape: Leaf, Entry or Output
Rule = Callable[..., Any]  # a declared derivative; its parameters name the values it gets: g, ans, an argument
Pull = Callable[[Any, Array], Sequence[Array]]  # (entry, cotangent of its output) -> the cotangents of its inputs


class Note(Protocol):
    """A note that an observer attaches to an entry. The sweep calls ``backward`` after the rules of the entry have run.

    ``contributions`` are the results of the rules for each parent. ``seconds`` is the time that the rules took.
    """

    def backward(self, entry: Any, cotangent: Any, contributions: Sequence[Array], seconds: float) -> None: ...
