"""What an ordinary program is: a function that returns one real number, and its arguments for each seed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Examples = Callable[[int], tuple[Any, ...]]


@dataclass(frozen=True)
class Ordinary:
    """A program as a user writes it, and its examples.

    Attributes:
        function: returns one real number (0-d).
        examples: maps a seed to the arguments. All seeds give the same shapes and dtypes.
    """

    function: Callable[..., Any]
    examples: Examples


def normals(*shapes: tuple[int, ...], scale: float = 1.0, dtype: Any = np.float64) -> Examples:
    """Return examples that are normal numbers, one array for each shape."""

    def examples(seed: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(seed)
        return tuple(np.asarray(scale * rng.normal(size=shape), dtype) for shape in shapes)

    return examples


def drawn(draw: Callable[[np.random.Generator], tuple[Any, ...]]) -> Examples:
    """Return examples that ``draw`` takes from a generator."""
    return lambda seed: draw(np.random.default_rng(seed))
