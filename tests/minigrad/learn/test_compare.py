"""What is said of a wrong result."""

from typing import Any

import numpy as np
import pytest

from minigrad.learn.compare import compare, number
from minigrad.learn.counting import Calls, work
from minigrad.learn.data import Unknown, decode, encode
from minigrad.learn.tasks import AtMost, Case, say

A = np.array([[1.0, 2.0, 0.25], [3.0, 4.0, 5.0]])


def said(got: Any, want: Any, **more: Any) -> str | None:
    finding = compare(Case("f(x)", {}, want, **more), got)
    if finding is None:
        return None
    facts = {"what": finding.facts.get("name") or "it", "call": "f(x)", **finding.facts}
    return say("en", finding.kind, **facts)


def wrong_at(place: tuple[int, int], value: float) -> Any:
    other = A.copy()
    other[place] = value
    return other


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (A, A),
        (A + 1e-9, A),
        (2.5, 2.5),
        (np.float64(2.5), 2.5),
        (3, 3.0),
        (A.tolist(), A),
        ((1.0, A), (1.0, A)),
        (True, True),
    ],
)
def test_what_is_right(got: Any, want: Any) -> None:
    assert said(got, want) is None


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (wrong_at((0, 2), 0.5), A, "right at 5 of 6 places; at [0, 2] it is 0.5 and should be 0.25."),
        (-A, A, "wrong at all 6 places; at [0, 0] it is -1 and should be 1."),
        (wrong_at((1, 1), np.nan), A, "right at 5 of 6 places; at [1, 1] it is NaN (not a number) and should be 4."),
        (0.5, 0.25, "it is 0.5 and should be 0.25."),
        (float("nan"), 0.25, "it is NaN (not a number) and should be 0.25."),
        (A.T, A, "it has the shape (3, 2) and should have (2, 3)."),
        (A[:1], A, "it has the shape (1, 3) and should have (2, 3)."),
        (1.0, A, "it has the shape () and should have (2, 3)."),
        (A.astype(np.float32), A, "it has the dtype float32 and should have float64."),
        (A.astype(np.int64), A, "it has the dtype int64 and should have float64."),
        (None, A, "it is None: is a `return` missing?"),
        (Unknown("Tensor"), A, "it must be a number or an array of numbers, and is: Tensor."),
        ("1", 1.0, "it must be a number or an array of numbers, and is: str."),
        ([[1.0], [1.0, 2.0]], A, "it must be a number or an array of numbers, and is: list."),
        (True, 1.0, "it must be a number or an array of numbers, and is: bool."),
        (["a"], ["a", "b"], "it is ['a'] and should be ['a', 'b']."),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "it must be a dict with the keys 'a', 'b'; it has 'a'."),
        ({"a": 1.0, "b": 3.0}, {"a": 1.0, "b": 2.0}, "['b'] is 3 and should be 2."),
        (1.0 + 1e-6, 1.0, "it is 1.000001 and should be 1.0."),  # six digits would read the same
    ],
)
def test_what_is_wrong(got: Any, want: Any, words: str) -> None:
    text = said(got, want)
    assert text is not None
    assert text.replace("it: ", "") == words


def test_parts_have_names() -> None:
    names = ("dw", "db")
    assert said((1.0, 3.0), (1.0, 2.0), names=names) == "db is 3 and should be 2."
    assert compare(Case("f(x)", {}, (1.0, 2.0), names=names), (1.0,)) == compare(
        Case("f(x)", {}, (1.0, 2.0), names=names), [1.0]
    )
    finding = compare(Case("f(x)", {}, (1.0, 2.0), names=names), 1.0)
    assert finding is not None and finding.kind == "count" and finding.facts["names"] == names


def test_the_tolerance_is_relative_to_the_largest_element() -> None:
    want = np.array([1e-9, 1e6])
    assert said(want + [0.01, 0], want) is None  # 1e-7 of a million
    assert said(want + [1, 0], want) is not None
    assert said(np.array([-2e-18]), np.array([0.0])) is None


def test_counts_have_a_limit() -> None:
    assert said(10, AtMost(10)) is None
    assert said(11, AtMost(10)) == "The result is right, but it costs 11, and 10 are enough."


def test_numbers_read_as_people_write_them() -> None:
    assert [number(x) for x in (0.5, -0.0, 1e-10, 123456789.0)] == ["0.5", "0", "1e-10", "1.23457e+08"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        float("inf"),
        "text",
        [1, [2.0]],
        (1, ("a",)),
        {"a": 1, 2: [3]},
        A,
        A.astype(np.float32),
        A > 2,
        np.ones(0),
    ],
)
def test_data_survives_the_way(value: Any) -> None:
    back = decode(encode(value))
    assert type(back) is type(value)
    if not isinstance(value, np.ndarray):
        assert back == value
    else:
        np.testing.assert_array_equal(back, value)
        assert (back.dtype, back.shape) == (value.dtype, value.shape)


def test_what_is_no_data_is_named() -> None:
    assert decode(encode(object())) == "object" and isinstance(decode(encode(object())), Unknown)
    assert decode(encode(np.array([object()]))) == "ndarray"
    loop: list[Any] = []
    loop.append(loop)
    encode(loop)


def test_work_is_multiplications() -> None:
    a, b, v = np.ones((3, 4)), np.ones((4, 5)), np.ones(4)
    assert (
        work(lambda a, b: a @ b, a, b) == work(np.dot, a, b) == work(lambda a, b: np.einsum("ij,jk", a, b), a, b) == 60
    )
    assert work(lambda a, v: a @ v, a, v) == work(np.dot, a, v) == 12
    assert work(np.outer, v, v) == 16
    assert work(lambda v: v * 2 + 1, v) == 8
    assert work(lambda v: v.sum(), v) == 4
    assert work(lambda parts: parts[0] + parts[1], [v, v]) == 4
    assert work(lambda a: np.exp(a.T), a) == 12


def test_calls_are_counted() -> None:
    counted = Calls(abs)
    assert [counted(-1), counted(2)] == [1, 2] and counted.count == 2
