"""Writes docs/functions.md, the table of the NumPy functions that work on Tensors, from the registry.

    python docs/make_function_table.py

A test holds the file to what this program would write today, so the table is never edited by hand.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import Primitive
from minigrad._primitive import PlainFunction
from minigrad.tensor import registry

TABLE = Path(__file__).parent / "functions.md"
INTRODUCTION = """# The functions that work on Tensors

Written by `python docs/make_function_table.py` from the registry; a test holds it to the code.

Call them as NumPy's (`np.exp(t)`), or as methods where NumPy has the method. Everything else that NumPy offers raises a
`TypeError` that names the function: nothing is ever silently cut off from the tape.
"""


def name_of(function: Callable[..., Any]) -> str:
    """The name a user writes: ``np.linalg.norm``."""
    if function is operator.getitem:
        return "t[index]"
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy", "np", 1)
    return f"{module}.{function.__name__}"


def group_of(name: str) -> str:
    """The heading a function stands under."""
    parts = name.split(".")
    return {"linalg": "`np.linalg`", "fft": "`np.fft`"}.get(parts[1] if len(parts) > 2 else "", "NumPy")


def rows() -> dict[str, list[tuple[str, str]]]:
    """For each heading the functions under it, with what can be said about each."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for function, implementation in registry.items():
        if not callable(function) or (getattr(function, "__module__", None) or "numpy").startswith("scipy"):
            continue
        name = name_of(function)
        if isinstance(implementation, Primitive):
            inputs = implementation.rules or implementation.arguments
            what = "derivative in " + ", ".join(f"`{argument}`" for argument in inputs) if inputs else "derivative in each"
            what += "; with a kernel" if implementation.kernels else ""
        elif isinstance(implementation, PlainFunction):
            what = "gives a Tensor without a gradient" if implementation.gives_tensor else "plain values, no derivative"
        else:
            what = "a composition of others"
        found[group_of(name)].append((name, what))
    return found


def fused() -> list[tuple[str, str]]:
    """minigrad's own functions, which NumPy does not have."""
    own = [(name, value) for name, value in vars(mg).items() if isinstance(value, Primitive)]
    return [(f"minigrad.{name}", (value.__doc__ or "").strip().splitlines()[0]) for name, value in own]


def text() -> str:
    lines = [INTRODUCTION]
    for heading, functions in [*sorted(rows().items()), ("minigrad's own", fused())]:
        lines += [f"## {heading}", "", "| function | on Tensors |", "|---|---|"]
        lines += [f"| `{name}` | {what.replace('|', '&#124;')} |" for name, what in sorted(functions)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
    print(f"{TABLE}: {sum(len(functions) for functions in rows().values())} functions")
