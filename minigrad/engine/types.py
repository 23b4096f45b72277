"""What the files of the engine know of each other beyond what they import: only floors below may be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

Array = Any  # of numbers: numpy.ndarray, or a device's; to a rule under create_graph, a Tensor
Node = Any  # a place on the tape: Leaf, Entry or Output
Rule = Callable[..., Any]
Pull = Callable[[Any, Array], Sequence[Array]]  # (entry, cotangent of its output) -> the cotangents of its inputs


class Plan(Protocol):
    """What an operation keeps for its backward, and how a cotangent is pulled back through it.

    Attributes:
        names: of the kept values, in their order: arguments, ``ans``, ``<argument>_shape``, keywords.
        constants: the places among them of arrays that are not differentiated, which are the caller's own.
        fresh: whether ``pull`` gives arrays that nobody else holds, which may be added into.
        pull, pull_tensors: with a cotangent that is an array, or a Tensor (``create_graph``).
    """

    primitive: Any
    constants: list[int]
    fresh: bool
    pull: Pull
    pull_tensors: Pull

    @property
    def names(self) -> list[str]: ...


class Hooks(Protocol):
    """What is asked of a node's cotangent once it is complete; see hooks.py."""

    functions: dict[int, tuple[int, Callable[[Any], Any]]]
    retained: list[Any]

    def run(self, g: Any) -> Any: ...

    def arrivals(self, g: Any) -> Iterator[tuple[Any, Any]]: ...


class Note(Protocol):
    """What an observer attaches to an entry. A sweep tells it the cotangent of the entry's output, what the rules made of
    that for each parent, and how long they took."""

    def backward(self, entry: Any, cotangent: Any, contributions: Sequence[Array], seconds: float) -> None: ...
