"""Programs for all sizes: the same function is written for several examples, and numbers that differ become sizes.

An axis is *free* if its length differs between the examples. Axes whose lengths always agree are one size, and the program
checks that they agree. A number that differs between the examples must be ``k * size``, ``k / size``, or the like for
products of sizes; if two such forms fit all examples, the program is refused rather than guessed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .arguments import Arguments
from .statements import Check, Expression, Statement, Value
from .tidy import constant

_POWERS = (0, 1, 2, -1)


class Sizes:
    """The free sizes of several examples.

    Attributes:
        lengths: for each size, its text (``len(x)``, ``x.shape[1]``) and its lengths in the examples. The text also takes the
            place of the length in the shape of each argument.
    """

    def __init__(self, examples: Sequence[Arguments]) -> None:
        self.lengths: dict[str, tuple[int, ...]] = {}
        texts: dict[tuple[int, ...], str] = {}
        for leaves in zip(*[example.leaves for example in examples], strict=True):
            first, shapes = leaves[0], [leaf.array.shape for leaf in leaves]
            if len({(len(leaf.array.shape), leaf.array.dtype) for leaf in leaves}) > 1:
                raise UnsupportedError(
                    f"the examples must differ in sizes only, and {first.name} has other dtypes or axes"
                )
            for axis, lengths in enumerate(zip(*shapes)):
                if len(set(lengths)) > 1:
                    text = f"len({first.name})" if axis == 0 else f"{first.name}.shape[{axis}]"
                    self.lengths.setdefault(texts.setdefault(lengths, text), lengths)
                    first.shape = (*first.shape[:axis], texts[lengths], *first.shape[axis + 1 :])

    def _product(self, names: Sequence[str], example: int) -> int:
        return math.prod(self.lengths[name][example] for name in names)

    def number(self, values: Sequence[Any], place: str) -> Expression:
        """Return the expression that gives ``values[i]`` in the i-th example.

        Raises:
            UnsupportedError: no product of sizes does, or several do.
        """
        found: dict[tuple[int, ...], Expression] = {}
        for powers in itertools.product(_POWERS, repeat=len(self.lengths)):
            above = [name for name, power in zip(self.lengths, powers) for _ in range(max(power, 0))]
            below = [name for name, power in zip(self.lengths, powers) if power < 0]
            counts = [(self._product(above, i), self._product(below, i)) for i in range(len(values))]
            if (above or below) and (expression := _fitting(values, above, below, counts)) is not None:
                found[powers] = expression
        names = list(self.lengths)
        if not found:
            raise UnsupportedError(
                f"{place}: {_listed(values)} in the examples is no product of sizes: {_listed(names)}"
            )
        if len(found) > 1:
            either = " or ".join(map(repr, list(found.values())[:2]))
            raise UnsupportedError(f"{place}: {_listed(values)} may be {either}: give an example in which these differ")
        return next(iter(found.values()))


def _fitting(
    values: Sequence[Any], above: Sequence[str], below: Sequence[str], counts: Sequence[tuple[int, int]]
) -> Expression | None:
    """Return ``k * above / below`` if it gives all values to the bit, with one ``k`` for all examples; None otherwise.

    ``counts`` has the products of the sizes above and below the line in each example.
    """
    over, under = " * ".join(above), " * ".join(below)
    first, (top, bottom) = values[0], counts[0]
    factor = _whole(first * bottom / top)
    if not below:
        given: list[Any] = [factor * a for a, _ in counts]
        text = over if factor == 1 else f"{factor} * {over}"
    elif isinstance(factor, int) or above:
        given = [factor * a / b for a, b in counts]
        text = (
            " * ".join([repr(factor), *above][factor == 1 and bool(above) :])
            + f" / {under if len(below) == 1 else f'({under})'}"
        )
    else:  # 1 / (2 * n)
        inverse = _whole(top / (first * bottom)) if first else 0
        given = [1 / (inverse * b) if inverse else None for _, b in counts]
        text = f"1 / ({inverse} * {under})"
        if not isinstance(inverse, int):
            given, text = [factor / b for _, b in counts], f"{factor!r} / {under if len(below) == 1 else f'({under})'}"
    if any(type(got) is not type(value) or got != value for got, value in zip(given, values)):
        return None
    return Expression(text, 10 if text == over and len(above) == 1 else 6)


def _whole(number: float) -> float | int:
    """Return the whole number that ``number`` is up to rounding, or else ``number``."""
    near = round(number) if math.isfinite(number) else 0
    return near if near and math.isclose(number, near, rel_tol=1e-12) else number


def _listed(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items))


def generalised(sizes: Sizes, versions: Sequence[tuple[list[Statement], Any]]) -> tuple[list[Statement], Any]:
    """Return the first version, with expressions of sizes in place of the numbers in which the versions differ.

    Raises:
        UnsupportedError: the versions differ in more than numbers.
    """
    statements = [version[0] for version in versions]
    if len({len(each) for each in statements}) > 1:
        raise UnsupportedError(
            "the programs for the examples have different lengths: a loop runs over a size that differs"
        )
    numbers: dict[Value, int] = {}
    for position in zip(*statements):
        _merge(sizes, position, numbers)
    return statements[0], versions[0][1]


def _merge(sizes: Sizes, alike: Sequence[Statement], numbers: dict[Value, int]) -> None:
    """Put expressions into the first of several statements that do the same in the examples."""
    first = alike[0]
    place = f"line {first.place.line} ({first.place.text})" if first.place is not None else "the program"
    if any(_name(each) != _name(first) or len(each.outputs) != len(first.outputs) for each in alike):
        raise UnsupportedError(f"{place}: the programs for the examples differ in more than numbers")
    first.args = _merged(sizes, [each.args for each in alike], numbers, place)
    first.keywords = _merged(sizes, [each.keywords for each in alike], numbers, place)
    if isinstance(first, Check):
        first.expected = _merged(sizes, [each.expected for each in alike if isinstance(each, Check)], numbers, place)
    for outputs in zip(*[each.outputs for each in alike]):
        numbers.update(dict.fromkeys(outputs, len(numbers)))


def _name(statement: Statement) -> Any:
    call = statement.call
    return getattr(call, "__self__", None), getattr(call, "__name__", call), statement.backward


def _merged(sizes: Sizes, trees: Sequence[Any], numbers: dict[Value, int], place: str) -> Any:
    first = trees[0]
    if any(type(tree) is not type(first) for tree in trees):
        raise UnsupportedError(f"{place}: the programs for the examples differ in more than numbers")
    if isinstance(first, (tuple, list)) and len({len(tree) for tree in trees}) == 1:
        items = [_merged(sizes, parts, numbers, place) for parts in zip(*trees)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, dict) and len({tuple(tree) for tree in trees}) == 1:
        return {key: _merged(sizes, [tree[key] for tree in trees], numbers, place) for key in first}
    if isinstance(first, slice):
        return slice(*(_merged(sizes, parts, numbers, place) for parts in zip(*map(_ends, trees))))
    if type(first) is Value:
        literals = [constant(tree) if np.ndim(tree.data) == 0 else None for tree in trees]
        if None not in literals and len(set(literals)) > 1:
            return _merged(sizes, [np.asarray(literal).item() for literal in literals], numbers, place)
        if len({numbers.get(tree, tree.name) for tree in trees}) == 1:
            return first
    elif isinstance(first, np.ndarray):
        return _array(sizes, trees, place)
    elif isinstance(first, np.generic) and len({tree.tobytes() for tree in trees}) == 1:
        return first
    elif type(first) in (int, float) and len(set(trees)) > 1:
        return sizes.number(trees, place)
    elif isinstance(first, np.generic) and first.dtype.char in "dl":
        return sizes.number([tree.item() for tree in trees], place)
    elif first is trees[1] or first == trees[1]:
        return first
    raise UnsupportedError(f"{place}: the programs for the examples differ in more than numbers")


def _ends(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step


def _array(sizes: Sizes, arrays: Sequence[Any], place: str) -> Any:
    """Return a constant array as it is, or the call that makes it in every size: ``np.arange(n)``, ``np.zeros((n, 3))``."""
    first = arrays[0]
    if all(array.shape == first.shape and array.tobytes() == first.tobytes() for array in arrays):
        return first
    dtype = "" if first.dtype == np.dtype(float) else f", np.{first.dtype.name}"
    if all(array.size and (array == first.flat[0]).all() for array in arrays) and all(
        a.ndim == first.ndim for a in arrays
    ):
        shape = tuple(_merged(sizes, lengths, {}, place) for lengths in zip(*[array.shape for array in arrays]))
        return Expression(f"np.full({shape}, {first.flat[0].item()!r}{dtype})", 10)
    if all(array.ndim == 1 and np.array_equal(array, np.arange(len(array), dtype=array.dtype)) for array in arrays):
        length = sizes.number([len(array) for array in arrays], place)
        plain = first.dtype == np.dtype(int)
        return Expression(f"np.arange({length}{'' if plain else f', dtype=np.{first.dtype.name}'})", 10)
    raise UnsupportedError(f"{place}: an array that is no argument differs between the examples: make it an argument")
