"""Writes the traced run out as a NumPy program for the page, and links each line to the steps that it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...errors import MinigradError
from ..record.model import Graph

MOST_WRITTEN = 120  # operations; above this, the search for loops in them can take longer than the page itself
MOST_NUMBERS = 4_000_000  # elements of all results; above this, running them a second time takes long

Data = dict[str, Any]


def written(graph: Graph, steps: Sequence[tuple[str, int]]) -> Data | None:
    """Return the program's text, or the reason why there is none; None without the package ``codegen``, which writes it.

    ``steps`` are those of the page. A line has the numbers of the steps that it runs, counted from 1. For a step without a
    line of its own, ``elsewhere`` has the line that shows its value.
    """
    if find_spec("...codegen", __package__) is None:
        return None
    operations = list(graph.operations())
    numbers = sum(np.size(each) for n in operations for each in (n.value if isinstance(n.value, tuple) else (n.value,)))
    if len(operations) > MOST_WRITTEN or numbers > MOST_NUMBERS:
        limits = {"operations": len(operations), "numbers": numbers, "most": MOST_WRITTEN, "mostNumbers": MOST_NUMBERS}
        return {"reason": "tooLarge", **limits}
    from ...codegen.traced import written_trace

    try:
        program, lines, elsewhere = written_trace(graph)
    except MinigradError as error:
        return {"reason": "refused", "why": str(error)}
    number = {step: i + 1 for i, step in enumerate(steps)}
    number |= {("sum", e): number.get(("fit", e), n) for (kind, e), n in [*number.items()] if kind == "product"}
    return {
        "constants": [f"{name} {array.dtype} {array.shape}" for name, array in program.constants.items()],
        "lines": [line for line, _ in lines],
        "steps": [_numbers(number, line_steps) for _, line_steps in lines],
        "elsewhere": {number[step]: line for step, line in elsewhere.items() if step in number},
    }


def _numbers(number: Mapping[tuple[str, int], int], steps: Sequence[tuple[str, int]]) -> list[int]:
    return sorted({number[step] for step in steps if step in number})
