"""Programs for all sizes: the same function is written for several examples, and numbers that differ become sizes.

An axis is *free* if its length differs between the examples. Axes whose lengths always agree, or always differ by 1 or 2, are
one size, and the program checks that they do. A number that differs between the examples must be ``k * size``, ``k / size``,
or the like for products of sizes, or ``size + k`` for an integer; if two such forms fit all examples, the program is refused
rather than guessed. A loop whose number of turns differs must have been folded in all examples in the same way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._tree import map_leaves
from ..errors import UnsupportedError
from .loops import Expression, Length, Listed, Loop, Spread, TurnIndex
from .program import Arguments, parts_of
from .record import Check, Statement, Value
from .simplify import constant, identity
from .text import number_text

_POWERS = (0, 1, 2, -1)
_NEAR = 8  # the largest k of size + k: the turns that a loop leaves out are few


class Sizes:
    """The free sizes of several examples. It writes their texts into the shapes of the first example's arguments.

    Attributes:
        lengths: for each size, its text (``len(x)``, ``x.shape[1]``) and its lengths in the examples.
        least: the smallest number for which the program holds, for the text of a size.
    """

    def __init__(self, examples: Sequence[Arguments]) -> None:
        self.least: dict[str, int] = {}
        texts: dict[tuple[int, ...], str] = {}
        if any([leaf.path for leaf in each.leaves] != [leaf.path for leaf in examples[0].leaves] for each in examples):
            raise UnsupportedError("the examples must differ in sizes only, and their lists or dicts have other arrays")
        for leaves in zip(*[example.leaves for example in examples]):
            first, shapes = leaves[0], [leaf.array.shape for leaf in leaves]
            if len({(len(leaf.array.shape), leaf.array.dtype) for leaf in leaves}) > 1:
                raise UnsupportedError(
                    f"the examples must differ in sizes only, and {first.name} has other dtypes or axes"
                )
            for axis, lengths in enumerate(zip(*shapes)):
                if len(set(lengths)) > 1:
                    texts.setdefault(lengths, f"len({first.name})" if axis == 0 else f"{first.name}.shape[{axis}]")
                    first.shape = (*first.shape[:axis], lengths, *first.shape[axis + 1 :])
        sums: dict[tuple[int, ...], Length] = {}
        for lengths in sorted(texts):
            less = [(tuple(n - plus for n in lengths), plus) for plus in (1, 2)]
            sums[lengths] = next((sums[other] + plus for other, plus in less if other in sums), Length(texts[lengths]))
        for leaf in examples[0].leaves:
            leaf.shape = tuple(str(sums[n]) if isinstance(n, tuple) else n for n in leaf.shape)
        self.lengths = {text: lengths for lengths, text in texts.items() if not sums[lengths].plus}

    def number(self, values: Sequence[Any], place: str) -> Expression:
        """Return the expression that gives ``values[i]`` in the i-th example.

        Raises:
            UnsupportedError: no product or sum of sizes does, or several do.
        """
        found = dict(self._products(values, "", 0))
        for name, lengths in self.lengths.items():
            sums, whole = {value - length for value, length in zip(values, lengths)}, type(values[0]) is int
            least = 1 if whole else 0  # n itself is a product already
            if len(sums) == 1 and least <= abs(min(sums)) <= _NEAR and min(sums) % 1 == 0:
                length = Length(name, int(min(sums)))
                found[length.text] = length if whole else Expression(f"float({length})", 10)
        for changed, plus in itertools.product(self.lengths, (1, -1, 2, -2)):  # such as 1 / (len(x) - 1)
            found = found or dict(self._products(values, changed, plus))
        if not found:
            raise UnsupportedError(
                f"{place}: {_listed(values)} in the examples is no product of sizes, and no size with an integer added: "
                f"{_listed([*self.lengths])}"
            )
        if len(found) > 1:
            either = " or ".join(map(repr, list(found.values())[:2]))
            raise UnsupportedError(f"{place}: {_listed(values)} may be {either}: give an example in which these differ")
        (number,) = found.values()
        self.at_least(number, 0)
        return number

    def _products(self, values: Sequence[Any], changed: str, plus: int) -> Iterator[tuple[str, Expression]]:
        """Yield the products of sizes that give ``values``, where ``plus`` is added to the size ``changed``."""
        sizes = {
            f"({Length(name, plus)})" if name == changed else name: [n + plus * (name == changed) for n in lengths]
            for name, lengths in self.lengths.items()
        }
        if not sizes or min(map(min, sizes.values())) <= 0 or any(value * values[0] <= 0 for value in values):
            return
        powers = np.array([*itertools.product(_POWERS, repeat=len(sizes))])
        logs = np.log([*sizes.values()])
        off = powers @ (logs - logs[:, :1]) - np.log(np.abs(values) / np.abs(values[0]))
        for row in powers[np.abs(off).max(axis=1) < 1e-9].tolist():
            above = [name for name, power in zip(sizes, row) for _ in range(max(power, 0))]
            below = [name for name, power in zip(sizes, row) if power < 0]
            counts = [
                (math.prod(sizes[n][i] for n in above), math.prod(sizes[n][i] for n in below))
                for i in range(len(values))
            ]
            expression = _fitting(values, above, below, counts) if above or below else None
            if expression is None and len(below) > 1 and not above:
                expression = _mean_of_means(values, {name: sizes[name] for name in below})
            if expression is not None:
                yield expression.text, expression

    def at_least(self, number: Any, least: int) -> None:
        """Note that the program holds only where a number that it computes from sizes is ``least`` or more."""
        if isinstance(number, Length) and least > number.plus:
            self.least[number.base] = max(self.least.get(number.base, 0), least - number.plus)

    def others(self, example: Arguments) -> Iterator[tuple[str, Any]]:
        """Yield the numbers of an example in other sizes: all smallest, then each smallest, larger, and twice as large."""
        least = {name: max(self.least.get(name, 1), 1) for name in self.lengths}
        larger = [(name, times * max(lengths) + 1) for name, lengths in self.lengths.items() for times in (1, 2)]
        for changed in (least, *({name: n} for name, n in (*least.items(), *larger))):
            shapes = iter([leaf.shape for leaf in example.leaves])

            def resized(leaf: Any, shapes: Any = shapes, changed: dict[str, int] = changed) -> Any:
                if not isinstance(leaf, (np.ndarray, np.generic)):
                    return leaf
                for axis, (size, length) in enumerate(zip(next(shapes), leaf.shape)):
                    base, plus = parts_of(size)
                    leaf = np.take(leaf, np.arange(changed.get(base, length - plus) + plus) % length, axis)
                return leaf

            yield ", ".join(f"{name} = {n}" for name, n in changed.items()), map_leaves(resized, example.examples)

    def opening(self) -> list[str]:
        """Return the lines that refuse sizes for which a loop would have no turn."""
        lines = []
        for text, least in self.least.items():
            message = f"this program was written for {text} >= {least}"
            lines += [f"if {text} < {least}:", f"    raise ValueError({message!r})"]
        return lines


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
    tightness = 10 if text == over and len(above) == 1 else 6
    return Length(text, 0, tightness) if type(first) is int else Expression(text, tightness)


def _mean_of_means(values: Sequence[Any], below: dict[str, Sequence[int]]) -> Expression | None:
    """Return ``1 / a / (k * b)``, which rounds otherwise than ``1 / (k * a * b)``, if it gives all values to the bit."""
    factor = _whole(1 / values[0] / math.prod(lengths[0] for lengths in below.values()))
    for order in itertools.permutations(below):
        for factors in ([1, factor], [factor, 1]):
            parts = [(factors[0], order[:1]), (factors[1], order[1:])]
            given = [1.0] * len(values)
            for k, names in parts:
                given = [one / (k * math.prod(below[name][i] for name in names)) for i, one in enumerate(given)]
            if given == [*values]:
                texts = [" * ".join([repr(k)] * (k != 1) + [*names]) for k, names in parts]
                return Expression(" / ".join(["1", *(f"({text})" if " * " in text else text for text in texts)]), 6)
    return None


def _whole(number: float) -> float | int:
    """Return the whole number that ``number`` is up to rounding, or else ``number``."""
    near = round(number) if math.isfinite(number) else 0
    return near if near and math.isclose(number, near, rel_tol=1e-12) else number


def _listed(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items))


def generalised(sizes: Sizes, programs: Sequence[tuple[list[Statement], Any]]) -> tuple[list[Statement], Any]:
    """Return the first program, with expressions of sizes in place of the numbers in which the programs differ.

    Raises:
        UnsupportedError: the programs differ in more than numbers.
    """
    sizes.least.clear()
    work = _Generalising(sizes)
    work.block([program[0] for program in programs])
    work.place = "the return"
    return programs[0][0], work.general([program[1] for program in programs])


class _Generalising:
    """Merges the statement lists of the examples into the first.

    Attributes:
        numbers: values that correspond have the same number.
        loops: the loop of each value that a list collects.
        place: the line of the user's program, for errors.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.numbers: dict[Any, int] = {}
        self.loops: dict[Value, Loop] = {}
        self.place = ""

    def block(self, programs: Sequence[Sequence[Statement]]) -> None:
        for alike in itertools.zip_longest(*programs):
            here = self.enter(next(each for each in alike if each is not None))
            if any(each is None or _form(each) != _form(here) for each in alike):
                raise UnsupportedError(
                    f"{self.place}: a loop runs over a size that differs between the examples, and its turns are not alike, or "
                    "too few to tell: give examples in which it has more turns"
                )
        for alike in zip(*programs):
            here = self.enter(alike[0])
            if isinstance(here, Loop):
                self.loop(here, alike)
                continue
            here.args, here.keywords, _ = self.general([(each.args, each.keywords, each.target) for each in alike])
            if isinstance(here, Check):
                here.expected = self.general([getattr(each, "expected", None) for each in alike])
            self.same(*zip(*[each.outputs for each in alike]))

    def enter(self, statement: Statement) -> Statement:
        """Note the line of a statement for errors."""
        place = (statement.body[0] if isinstance(statement, Loop) else statement).place
        self.place = f"line {place.line} ({place.text})" if place is not None else "the program"
        return statement

    def same(self, *rows: Sequence[Any]) -> None:
        """Note that the values in a row are one value of the program."""
        for row in rows:
            self.numbers.update(dict.fromkeys(row, len(self.numbers) + 1))

    def loop(self, first: Loop, loops: Sequence[Any]) -> None:
        parts = "body", "carried", "collected", "indices", "elements", "read_later"
        if len({tuple(len(getattr(loop, part)) for part in parts) for loop in loops}) > 1:
            raise self.differ()
        first.count = self.general([loop.count for loop in loops])
        self.sizes.at_least(first.count, 1)
        starts = self.general([[each.first for each in loop.carried] for loop in loops])
        for i, turn in enumerate(first.indices):
            turns = [loop.indices[i] for loop in loops]
            self.same(turns)
            turn.first, turn.step = self.general([(each.first, each.step) for each in turns])
        for elements in zip(*[loop.elements for loop in loops]):
            self.general([each[1:] for each in elements])
            self.in_list(elements[0], first.count)
        self.same(*zip(*[[each.value for each in (*loop.carried, *loop.elements)] for loop in loops]))
        self.block([loop.body for loop in loops])
        self.general([[(each.last, each.shared) for each in loop.carried] + loop.collected for loop in loops])
        first.carried = [each._replace(first=start) for each, start in zip(first.carried, starts)]
        self.loops.update(dict.fromkeys(first.collected, first))
        for i, later in enumerate(zip(*[loop.read_later for loop in loops])):
            first.read_later[i] = self.later(later, loops)
            self.same([each.value for each in later])

    def in_list(self, element: Listed, count: Any) -> None:
        """Note for which sizes all indices of an element are in the list of another loop."""
        at = element.at
        if not element.collected or not isinstance(at, TurnIndex):
            return
        try:
            further = count - 1 if abs(at.step) == 1 else (count - 1) * abs(at.step)
            last = at.first + further if at.step > 0 else at.first - further
            low, high = (at.first, last) if at.step > 0 else (last, at.first)
            self.sizes.at_least(low, 0)
            self.sizes.at_least(self.loops[element.source].count - high, 1)  # type: ignore[index,operator]
        except TypeError:  # no sum of one size and an integer
            raise self.differ() from None

    def later(self, later: Sequence[Listed], loops: Sequence[Any]) -> Listed:
        """Return what the program reads from a list after the loop. The index counts from the end if it differs otherwise."""
        self.general([each.source for each in later])
        positions: list[Any] = [each.at for each in later]
        if not later[0].collected:
            return later[0]._replace(at=self.general(positions))
        starts, ends = set(positions), {at - len(loop.turns) for at, loop in zip(positions, loops)}
        if len(starts) > 1 and len(ends) > 1:
            raise self.differ()
        at = min(starts) if len(starts) == 1 else min(ends)
        self.sizes.at_least(loops[0].count, at + 1 if at >= 0 else -at)
        return later[0]._replace(at=at)

    def differ(self) -> UnsupportedError:
        return UnsupportedError(f"{self.place}: the programs for the examples differ in more than numbers")

    def general(self, trees: Sequence[Any]) -> Any:
        """Return the first of the arguments of several programs, with expressions in place of the numbers that differ."""
        first, sizes = trees[0], self.sizes
        if any(type(tree) is not type(first) for tree in trees):
            raise self.differ()
        if isinstance(first, (tuple, list)) and len({len(tree) for tree in trees}) == 1:
            items = [self.general(parts) for parts in zip(*trees)]
            return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
        if isinstance(first, dict) and len({tuple(tree) for tree in trees}) == 1:
            return {key: self.general([tree[key] for tree in trees]) for key in first}
        if isinstance(first, slice):
            return slice(*self.general([(tree.start, tree.stop, tree.step) for tree in trees]))
        if isinstance(first, Spread):
            self.general([(tree.source, tree.reverse, str(tree.ends)) for tree in trees])
            return first
        if type(first) in (Value, TurnIndex):
            literals = [constant(tree) if type(tree) is Value and np.ndim(tree.data) == 0 else None for tree in trees]
            if None not in literals and len(set(literals)) > 1:
                return self.general([np.asarray(literal).item() for literal in literals])
            keys = {self.numbers.get(tree) or getattr(tree, "name", None) for tree in trees}
            if len(keys) == 1 and None not in keys:
                return first
        elif isinstance(first, np.ndarray):
            return _array(sizes, trees, self.place)
        elif isinstance(first, np.generic) and len({tree.tobytes() for tree in trees}) == 1:
            return first
        elif type(first) in (int, float) and len(set(trees)) > 1:
            return sizes.number(trees, self.place)
        elif isinstance(first, np.generic) and first.dtype.char in "dl":
            return sizes.number([tree.item() for tree in trees], self.place)
        elif all(tree is first or tree == first for tree in trees):
            return first
        raise self.differ()


def _form(statement: Statement) -> Any:
    return identity(statement.call), statement.backward, len(statement.outputs)


def _array(sizes: Sizes, arrays: Sequence[Any], place: str) -> Any:
    """Return a constant array as it is, or the call that makes it in every size: ``np.arange(n)``, ``np.zeros((n, 3))``."""
    first = arrays[0]
    if all(array.shape == first.shape and array.tobytes() == first.tobytes() for array in arrays):
        return first
    dtype = "" if first.dtype == np.dtype(float) else f", np.{first.dtype.name}"
    uniform = [array.size and array.tobytes() == np.full_like(array, first.flat[0]).tobytes() for array in arrays]
    if all(uniform) and len({array.ndim for array in arrays}) == 1:
        shape = tuple(
            lengths[0] if len(set(lengths)) == 1 else sizes.number(lengths, place)
            for lengths in zip(*[array.shape for array in arrays])
        )
        number = number_text(first.flat[0].item())
        made = f"np.zeros({shape}{dtype})" if number in ("0.0", "0") else f"np.full({shape}, {number}{dtype})"
        return Expression(made, 10)
    if all(array.ndim == 1 and np.array_equal(array, np.arange(len(array), dtype=array.dtype)) for array in arrays):
        length = sizes.number([len(array) for array in arrays], place)
        plain = first.dtype == np.dtype(int)
        return Expression(f"np.arange({length}{'' if plain else f', dtype=np.{first.dtype.name}'})", 10)
    raise UnsupportedError(f"{place}: an array that is no argument differs between the examples: make it an argument")
