"""Checks of numbers that a dtype cannot hold: fractions in integers, and large numbers in float16."""

from __future__ import annotations

import ast

import numpy as np

from ..source.index import callee
from .finding import DebugFinding
from .source import assignments, floor_divisions, is_square, names_of_target, values_of
from .watched import WatchedRun, line_of

LIKE = ("zeros_like", "empty_like", "full_like", "ones_like")  # functions whose result has the dtype of their argument
FLOATING = "make the array with a floating dtype: np.zeros(shape), or zeros_like(a, dtype=float)."
FEW = 0.05  # the share of rows of zeros from which float16 has overflowed
MOSTLY = 0.8  # the share of zeros from which a division by // has cut most fractions off


def find_dtypes(watched: WatchedRun) -> list[DebugFinding]:
    """Return the finding about numbers that a dtype could not hold, by the first check that applies."""
    return _cut_by_dtype(watched) or _cut_by_division(watched) or _cut_by_buffer(watched) or _half_overflowed(watched)


def _cut_by_division(watched: WatchedRun) -> list[DebugFinding]:
    """A given array that is nearly all zero, from a line that divides with //."""
    source = watched.source()
    if source is None or not watched.seen:
        return []
    for name, value in watched.seen[0].look.values.items():
        if not isinstance(value, np.ndarray) or value.size < 20 or (value.ndim < 2 and value.dtype.kind != "f"):
            continue  # whole numbers in one dimension may be labels
        zero = float((value == 0).mean())
        for line, made in assignments(source, name) if zero >= MOSTLY and (value == np.floor(value)).all() else ():
            if floor_divisions(made):
                what = f"{zero:.0%} of the elements of '{name}' are 0: // in line {line} cut the fractions off."
                return [DebugFinding("integers", 0, what, "divide with /.", [line]).at(source)]
    return []


def _cut_by_buffer(watched: WatchedRun) -> list[DebugFinding]:
    """Fractions that were written into an array like one of integers."""
    source = watched.source()
    if source is None or not watched.seen:
        return []
    for made in source.find(ast.Assign, lambda n: callee(n.value) in LIKE and not n.value.keywords and n.value.args):
        given = values_of(source, getattr(made.value.args[0], "id", ""), watched.seen[0].look.values)
        if not any(isinstance(value, np.ndarray) and value.dtype.kind in "iu" for value in given):
            continue
        for write in source.find(ast.Assign, lambda n: isinstance(n.targets[0], ast.Subscript)):
            own = set(names_of_target(write.targets[0])) & set(names_of_target(made.targets[0]))
            if own and any(
                isinstance(n, ast.Div) or type(getattr(n, "value", 0)) is float for n in ast.walk(write.value)
            ):
                what = f"line {write.lineno} writes fractions into an array of integers, which cuts them off."
                return [DebugFinding("integers", 0, what, FLOATING, [made.lineno, write.lineno]).at(source)]
    return []


def _half_overflowed(watched: WatchedRun) -> list[DebugFinding]:
    """Rows of zeros in the inputs of a program that squares numbers in float16: they were divided by an infinite length."""
    source = watched.source()
    halves = source.find(ast.Attribute, lambda n: n.attr == "float16") if source is not None else []
    squares = source.find(ast.BinOp, is_square) if source is not None and halves else []
    for edge in watched.seen[0].graph.edges if squares and watched.seen else ():
        value = edge.value
        if (
            watched.seen[0].is_constant(edge)
            and isinstance(value, np.ndarray)
            and value.ndim == 2
            and value.dtype.kind == "f"
        ):
            zero = float((value == 0).all(axis=1).mean())
            if zero > FEW:
                what = (
                    f"{zero:.0%} of the rows of the inputs are 0: float16 ends at 65504, and squares of 256 are larger."
                )
                remedy = "compute lengths and squares in float32: x.astype(np.float32)."
                lines = [squares[0].lineno, halves[0].lineno]
                return [DebugFinding("nonfinite", 0, what, remedy, lines).at(source)]
    return []


def _cut_by_dtype(watched: WatchedRun) -> list[DebugFinding]:
    """Whole numbers in an integer array, negative ones too, that a matrix product multiplies with weights."""
    for seen in watched.seen[:1]:
        for node in seen.graph.operations():
            if node.operation not in ("matmul", "affine"):
                continue
            for edge, origin in seen.operands(node):
                raw = seen.arrays.get((node.id, edge.argument))
                raw = raw if raw is not None else edge.value
                if origin.kind != "constant" or not isinstance(raw, np.ndarray) or raw.dtype.kind not in "iu":
                    continue
                if raw.size > 20 and not raw.any():
                    source = watched.source()
                    made = source.calls(*LIKE) if source is not None else []
                    what = f"all {raw.size} elements of the {raw.dtype} inputs are 0: fractions were cut off."
                    line = [made[0].lineno if made else watched.origin(seen, edge), line_of(node)]
                    return [DebugFinding("integers", seen.step, what, FLOATING, line).at(watched.source(node.source))]
                if raw.size > 20 and raw.min() < 0 and np.abs(raw).max() < 10 and (raw == 0).mean() > 0.3:
                    what = f"the inputs are {raw.dtype}, and {(raw == 0).mean():.0%} of them are 0: fractions were cut off."
                    line = [watched.origin(seen, edge), line_of(node)]
                    return [DebugFinding("integers", seen.step, what, FLOATING, line).at(watched.source(node.source))]
    return []
