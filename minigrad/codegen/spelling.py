"""How numbers, dtypes, transposes and long lines are spelled in a written program."""

from __future__ import annotations

import base64
import inspect
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from .statements import Statement, Value

WIDTH = 100  # characters of a line


def wrapped(line: str, indent: str = "    ") -> str:
    """Return a line of the body, divided into several if it is too long."""
    indent, line = indent + " " * (len(line) - len(line.lstrip())), line.lstrip()
    if len(indent + line) <= WIDTH or line.startswith(("#", "raise")):
        return indent + line
    head, right = re.match(r"(\S+(?:, \S+)* \S{0,2}= |return |)(.*)", line).groups()  # type: ignore[union-attr]
    right = f"({right})" if _divisible(right) else right
    if head.endswith("= "):
        targets, sign = head.split(" ")[:-2], head.split(" ")[-2]
        long = len(targets) > 1 and len(indent + head + right.partition(" ")[0]) > WIDTH
        head = (f"({' '.join(targets)})" if long else " ".join(targets)) + f"\0{sign}\0"  # a line cannot end there
    pieces = textwrap.wrap(
        head + right,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(pieces).replace("\0", " ")


def _divisible(text: str) -> bool:
    """Whether a text has a space outside of brackets, where a line cannot end."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return True
    return False


def transpose_text(statement: Statement) -> str:
    """Return ".T" or ".mT" if that is what a transpose does, and "" otherwise."""
    source, result = statement.args[0], statement.outputs[0]
    if type(source) is not Value:
        return ""
    data = source.data
    for text, axes in (
        (".T", tuple(range(data.ndim))[::-1]),
        (".mT", (*range(data.ndim - 2), data.ndim - 1, data.ndim - 2)),
    ):
        if data.ndim >= 2 and _axes_of(statement, data.ndim) == axes and np.shape(result.data):
            return text
    return ""


def _axes_of(statement: Statement, ndim: int) -> tuple[int, ...] | None:
    """Return the order of axes that a transpose or swapaxes makes."""
    bound = inspect.signature(statement.call).bind(*statement.args, **statement.keywords).arguments
    order = list(range(ndim))
    if statement.call is np.transpose:
        axes = bound.get("axes")
        return tuple(order[::-1]) if axes is None else tuple(int(axis) % ndim for axis in axes)
    first, second = int(bound["axis1"]) % ndim, int(bound["axis2"]) % ndim
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def without_defaults(call: Any, args: Sequence[Any], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments without those that are the default anyway."""
    no = {name for name, item in keywords.items() if item is np._NoValue or (name == "keepdims" and item is False)}
    keywords = {name: item for name, item in keywords.items() if name not in no}
    try:
        parameters = inspect.signature(call).parameters
    except (ValueError, TypeError):
        return list(args), keywords
    kept = {
        n: item for n, item in keywords.items() if n not in parameters or not is_default(item, parameters[n].default)
    }
    positional, named = list(args), list(parameters.values())
    while (
        len(positional) > 1
        and len(positional) <= len(named)
        and is_default(positional[-1], named[len(positional) - 1].default)
    ):
        positional.pop()
    for i in range(1, min(len(positional), len(named))):
        if is_default(positional[i], named[i].default) and named[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            given = [*zip(named[i:], positional[i:])]  # norm(x, None, 1) is norm(x, axis=1)
            return positional[:i], {p.name: item for p, item in given if not is_default(item, p.default)} | kept
    return positional, kept


def is_default(item: Any, default: Any) -> bool:
    """Whether an argument is the default anyway."""
    return item is default or (
        type(item) in (bool, int, float, str) and type(item) is type(default) and item == default
    )


def dtype_name(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype == np.dtype(bool) else dtype.name


def dtype_text(dtype: np.dtype[Any]) -> str:
    return "bool" if dtype == np.dtype(bool) else f"np.{dtype.name}"


def number_text(number: Any) -> str:
    """Return a Python number as it is written in a program with ``import numpy as np``."""
    if isinstance(number, complex):
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    if isinstance(number, float) and not math.isfinite(number):
        return "np.nan" if math.isnan(number) else "np.inf" if number > 0 else "-np.inf"
    text = repr(number)
    if isinstance(number, float) and 0 < abs(number) < 1:  # 1 / 6, not 0.16666666666666666
        n = round(1 / number) if abs(number) > 1e-9 else 1
        fraction = f"{'-' * (n < 0)}1 / {abs(n)}"
        text = fraction if 1 / n == number and len(fraction) < len(text) else text
    return text


def array_text(array: Any) -> str:
    """Return the text of a constant array: its numbers if they are few, or else its bytes."""
    if array.size <= 100 and array.dtype.kind in "iufb" and np.isfinite(array).all():
        return f"np.array({array.tolist()!r}, np.{array.dtype.name})"
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return f"np.frombuffer(base64.b64decode({text!r}), {array.dtype.str!r}).reshape({array.shape})"
