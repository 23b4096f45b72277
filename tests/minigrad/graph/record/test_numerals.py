"""Numbers as text: what Python writes, but for zero and infinity."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from minigrad.graph.record.numerals import number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0661, "-0.0661"),
        (-0.0, "0"),
        (np.float32(-0.0), "0"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (np.array(-np.inf), "-∞"),
        (math.nan, "nan"),
        (123456.0, "1.235e+05"),
        (3, "3"),
        (True, "True"),
        (1 - 2j, "1-2j"),
        (complex(-0.0, math.inf), "0+∞j"),
    ],
)
def test_numbers(value: Any, text: str) -> None:
    assert number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 17))
def test_python_reads_what_is_written(value: float, digits: int) -> None:
    assert float(number_text(value, digits)) == float(f"{value:.{digits}g}")
    assert not number_text(value, digits).startswith("-") or value < 0
