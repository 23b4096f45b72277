"""The whole table of cases: importing this module fills it, and `pytest --primitive NAME` leaves of it what is asked for."""

import difflib
from collections.abc import Collection

import pytest

from tests.minigrad.rules import (  # noqa: F401 - they fill the table
    cases_elementwise,
    cases_fits,
    cases_indexing,
    cases_linalg,
    cases_reductions,
    cases_shaping,
    cases_special,
)
from tests.minigrad.rules.cases import CASES as CASES, Case

WHOLE = [
    "tests/minigrad/rules/test_cases.py",
    "tests/minigrad/engine/test_operands.py",
    "tests/minigrad/graph/pages/test_formulas.py",
]  # run every case


def choose(primitives: Collection[str]) -> None:
    """Leave only their cases, before tests are made of them."""
    known = {case.primitive for case in CASES}
    for name in primitives:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), cutoff=0.5)
            hint = f"do you mean {' or '.join(near)}?" if near else "docs/functions.md lists them"
            raise pytest.UsageError(f"--primitive {name}: there is no such primitive; {hint}")
    CASES[:] = [case for case in CASES if case.primitive in primitives]


def runs_a_case(item: pytest.Item) -> bool:
    return isinstance(getattr(item, "callspec", None) and item.callspec.params.get("case"), Case)  # type: ignore[attr-defined]
