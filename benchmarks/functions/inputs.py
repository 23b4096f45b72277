"""The arrays that the functions are called on.

A maker takes a generator and the number of elements, and returns one float64 or integer array with about that many elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Maker = Callable[[np.random.Generator, int], Any]

TABLES = {100: (10, 10), 100_000: (250, 400), 2_000_000: (2000, 1000)}  # the shape of a table with so many elements
SIZES = tuple(TABLES)


def normal(random: np.random.Generator, n: int) -> Any:
    return random.standard_normal(TABLES[n])


def between(low: float, high: float) -> Maker:
    return lambda random, n: random.uniform(low, high, TABLES[n])


def integers(high: int) -> Maker:
    return lambda random, n: random.integers(0, high, TABLES[n])


def true_or_false(random: np.random.Generator, n: int) -> Any:
    return random.random(TABLES[n]) < 0.5


def cube(random: np.random.Generator, n: int) -> Any:
    """Make a batch of tables, as a model's activations are: (batch, length, width)."""
    rows, columns = TABLES[n]
    return random.standard_normal((rows // 5, 5, columns))


def matrices(random: np.random.Generator, n: int) -> Any:
    """Make a stack of well-conditioned 10 x 10 matrices."""
    return random.standard_normal((n // 100, 10, 10)) + 5 * np.eye(10)


def positive_matrices(random: np.random.Generator, n: int) -> Any:
    half = random.standard_normal((n // 100, 10, 10))
    return half @ half.transpose(0, 2, 1) + 5 * np.eye(10)


def batch_of_matrices(random: np.random.Generator, n: int) -> Any:
    """Make the operand of a batched product of square matrices, 5 to 50 wide."""
    width = {100: 5, 100_000: 50, 2_000_000: 50}[n]
    return random.standard_normal((n // width**2, width, width))


def heads(random: np.random.Generator, n: int) -> Any:
    """Make queries, keys or values: (batch, heads, length, width)."""
    batch = {100: 1, 100_000: 5, 2_000_000: 40}[n]
    length, width = (10, 10) if n == 100 else (100, 50)
    return random.standard_normal((batch, n // (batch * length * width), length, width))


def vector(random: np.random.Generator, n: int) -> Any:
    return random.standard_normal(n)


def column_vector(random: np.random.Generator, n: int) -> Any:
    """Make a vector as long as the table has rows."""
    return random.standard_normal(TABLES[n][0])


def row_vector(random: np.random.Generator, n: int) -> Any:
    """Make a vector as long as the table has columns."""
    return random.standard_normal(TABLES[n][1])


def tall(random: np.random.Generator, n: int) -> Any:
    """Make a matrix of ten columns."""
    return random.standard_normal((n // 10, 10))


def tenth(random: np.random.Generator, n: int) -> Any:
    """Make a vector as long as a tall matrix."""
    return random.standard_normal(n // 10)


def knots(random: np.random.Generator, n: int) -> Any:
    """Make increasing coordinates of a tenth of the points, to fit or to interpolate."""
    return np.sort(random.uniform(-2, 2, n // 10))


def kernel(random: np.random.Generator, n: int) -> Any:
    return random.standard_normal(9)


def labels(random: np.random.Generator, n: int) -> Any:
    """Make one class for each row of the table."""
    rows, columns = TABLES[n]
    return random.integers(0, columns, rows)


def places(random: np.random.Generator, n: int) -> Any:
    """Make a column's number for each element of the table."""
    return random.integers(0, TABLES[n][1], TABLES[n])


def triples(random: np.random.Generator, n: int) -> Any:
    """Make vectors of three coordinates."""
    return random.standard_normal((n // 3, 3))
