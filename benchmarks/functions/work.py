"""What is known of a function that is measured, and the table of all of them, which the ``works_`` modules fill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.functions.inputs import Maker, normal

Function = Callable[..., Any]


@dataclass(frozen=True)
class Work:
    """One function.

    Attributes:
        f: a function of arrays or Tensors. If NumPy has it, it runs on arrays, too.
        torch: the same function of PyTorch's tensors, or None if PyTorch has none.
        inputs: makers of its arrays. Floating arrays are differentiated.
        random: whether each call computes something else, so that values cannot be compared.
    """

    f: Function
    torch: Function | None
    inputs: tuple[Maker, ...]
    random: bool = False


WORKS: dict[str, Work] = {}


def add(
    name: str, f: Function, torch: Function | None, *inputs: Maker, random: bool = False, has_torch: bool = True
) -> None:
    assert name not in WORKS, name
    WORKS[name] = Work(f, torch if has_torch else None, inputs or (normal,), random)
