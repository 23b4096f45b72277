"""What an ordinary program is: a function that returns one real number, and its arguments for each seed."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class Ordinary:
    """A program as a user writes it, and its examples.

    Attributes:
        function: returns one real number (0-d).
        examples: maps a seed to the arguments. All seeds give the same shapes and dtypes.
    """

    function: Callable[..., Any]
    examples: Callable[[int], tuple[Any, ...]]


PROGRAMS: dict[str, Ordinary] = {}


def ordinary(
    *arguments: Any, name: str = "", scale: float = 1.0, dtype: Any = np.float64
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated function in PROGRAMS, under its own name unless another is given.

    A tuple of integers among the arguments is the shape of normal numbers, at the leaves of a list or a dict too. A function
    draws the argument from a generator. Any other value is the argument itself.
    """

    def draw(argument: Any, rng: np.random.Generator) -> Any:
        if isinstance(argument, tuple):
            return np.asarray(scale * rng.normal(size=argument), dtype)
        if isinstance(argument, dict):
            return {key: draw(part, rng) for key, part in argument.items()}
        if isinstance(argument, list):
            return [draw(part, rng) for part in argument]
        return argument(rng) if callable(argument) else copy.copy(argument)

    def examples(seed: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(seed)
        return tuple(draw(argument, rng) for argument in arguments)

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[name or function.__name__.replace("_", " ")] = Ordinary(function, examples)
        return function

    return enter


def normal(*shape: int) -> Draw:
    return lambda rng: rng.normal(size=shape)


def integers(low: int, high: int, size: Any) -> Draw:
    return lambda rng: rng.integers(low, high, size=size)


def uniform(low: float, high: float, size: Any) -> Draw:
    return lambda rng: rng.uniform(low, high, size=size)
