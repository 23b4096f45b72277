"""What a program made to fool `mg.write_numpy` consists of, and helpers for the files of such programs.

The writer runs a function once and writes down what it does. A program here does something that one run cannot show: it
takes another branch for other data, hides values from the arrays, or keeps state between calls.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any  # a Tensor, an array or a number: the programs are called with all of them
Arguments = tuple[Any, ...]


def nothing() -> None:
    """Put nothing back: the program has no state."""


@dataclass(frozen=True)
class Hostile:
    """A function and the arguments for which a program written from one call of it might silently be wrong.

    Attributes:
        function: takes the arguments and returns one real number, which is differentiated.
        examples: the arguments for a seed. All seeds give the same shapes and dtypes, but where the trap depends on the data
            they give another branch, index or count.
        fresh: puts global state back before a reference run.
        must: "refuse" where no standalone deterministic program can be right, because the function reads a clock, random
            numbers or state that changes from call to call. Otherwise "either": a written program must give what the tape
            gives, or raise.
        note: the trap in one sentence.
    """

    function: Callable[..., Any]
    examples: Callable[[int], Arguments]
    fresh: Callable[[], None] = nothing
    must: str = "either"
    note: str = ""


PROGRAMS: dict[str, Hostile] = {}


def hostile(
    examples: Callable[[int], Arguments], note: str, *, fresh: Callable[[], None] = nothing, must: str = "either"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated function in PROGRAMS, under its own name."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        if name in PROGRAMS:
            raise ValueError(f"two programs are called {name}")
        PROGRAMS[name] = Hostile(function, examples, fresh, must, note)
        return function

    return enter


def drawn(draw: Callable[[np.random.Generator], Arguments]) -> Callable[[int], Arguments]:
    """Return examples that are drawn from the random numbers of their seed."""
    return lambda seed: draw(np.random.default_rng(1000 + seed))


def normal(*shapes: tuple[int, ...], dtype: Any = np.float64) -> Callable[[int], Arguments]:
    """Return examples of normally distributed arrays."""
    return drawn(lambda rng: tuple(np.asarray(rng.normal(size=shape), dtype=dtype) for shape in shapes))


def with_integers(shape: tuple[int, ...], high: int, count: int, low: int = 0) -> Callable[[int], Arguments]:
    """Return examples of a normally distributed array and `count` integers from `low` to `high - 1`."""
    return drawn(lambda rng: (rng.normal(size=shape), rng.integers(low, high, size=count)))


def with_number(shape: tuple[int, ...], low: int, high: int) -> Callable[[int], Arguments]:
    """Return examples of a normally distributed array and a Python int, which goes from `low` to `high` and around."""
    return lambda seed: (*normal(shape)(seed), low + seed % (high - low + 1))


def in_turn(shape: tuple[int, ...], *values: Any) -> Callable[[int], Arguments]:
    """Return examples of a normally distributed array and a copy of one of the values, which take turns."""
    return lambda seed: (*normal(shape)(seed), copy.deepcopy(values[seed % len(values)]))


def cases(*arrays: Any, dtype: Any = np.float64) -> Callable[[int], Arguments]:
    """Return examples of one array: the given ones take turns."""
    return lambda seed: (np.array(arrays[seed % len(arrays)], dtype=dtype),)
