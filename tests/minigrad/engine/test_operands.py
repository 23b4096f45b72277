"""The door: a foreign operand becomes a plain array of numbers or is refused, on the fast path and the slow one alike."""

import functools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import DTypeError, GraphError, Primitive, Tensor, UnsupportedError
from minigrad.errors import said_by_minigrad
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

ROW = "np.array([1.0, 2.0, 3.0])"
# How each kind is made, and the plain operand that has its numbers.
TAKEN = {
    "numpy scalar": ("np.float64(2)", "2.0"),
    "list": ("[1.0, 2.0, 3.0]", ROW),
    "range": ("range(1, 4)", "np.array([1, 2, 3])"),
    "matrix": ("np.array([[1.0, 2.0, 3.0]]).view(np.matrix)", "np.array([[1.0, 2.0, 3.0]])"),
    "memmap": (f"{ROW}.view(np.memmap)", ROW),
    "column": ("pandas.Series([1.0, 2.0, 3.0], index=[7, 8, 9])", ROW),
    "frame": ("pandas.DataFrame({'a': [1.0], 'b': [2.0], 'c': [3.0]})", "np.array([[1.0, 2.0, 3.0]])"),
    "torch": ("torch.tensor([1.0, 2.0, 3.0])", "np.array([1.0, 2.0, 3.0], np.float32)"),
    "dlpack": (f"Exported({ROW})", ROW),
}
# How each kind is made, and what the message has to name.
REFUSED = {
    "masked": ("np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])", "a.filled(0.0)"),
    "list of masked": ("[np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])]", "a.filled(0.0)"),
    "sparse matrix": ("scipy.sparse.csr_matrix([[1.0, 0.0, 3.0]])", "a.toarray()"),
    "sparse array": ("scipy.sparse.csr_array([[1.0, 0.0, 3.0]])", "a.toarray()"),
    "objects": ("np.array([1.0, 2.0, 3.0], dtype=object)", "a.astype(float)"),
    "text": ("np.array(['1', '2', '3'])", "a.astype(float)"),
    "word": ("'abc'", "pass numbers"),
    "dates": ("np.array(['2020-01-01'] * 3, dtype='M8[D]')", "pass numbers"),
    "fraction": ("fractions.Fraction(1, 2)", "pass numbers"),
    "mixed column": ("pandas.Series([1.0, 'a', 3.0])", "a.astype(float)"),
    "ragged": ("[[1.0], [2.0, 3.0]]", "list"),
    "nothing": ("None", "pass numbers"),
    "labelled": ("xarray.DataArray([1.0, 2.0, 3.0], dims='x')", "a.values"),
    "torch, tracked": ("torch.tensor([1.0, 2.0, 3.0], requires_grad=True)", "detach()"),
}


@functools.cache
def outcomes(expression: str) -> list[dict[str, Any]]:
    """At each moment, of each call: the class of the array, its values and the gradient; or the error and its message."""
    modules = [name for name in ("pandas", "scipy.sparse", "torch", "xarray") if f"{name}." in expression]
    for name in modules:
        pytest.importorskip(name, reason=f"needs {name.partition('.')[0]}")
    program = [sys.executable, str(Path(__file__).with_name("operand_outcomes.py")), expression, *modules]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("expression", "plain"), TAKEN.values(), ids=TAKEN)
def test_what_holds_numbers_becomes_a_plain_array(expression: str, plain: str) -> None:
    (want, *_) = outcomes(plain)
    assert {kind for kind, *_ in want.values()} == {"ndarray"}
    for moment in outcomes(expression):
        assert moment == want


@pytest.mark.sampled(14)
@pytest.mark.parametrize(("expression", "way_out"), REFUSED.values(), ids=REFUSED)
def test_what_would_lose_something_is_refused_with_the_way_out(expression: str, way_out: str) -> None:
    for moment in outcomes(expression):
        for call, (kind, *message) in moment.items():
            assert kind == "DTypeError" and way_out in message[0], (call, message)


def test_a_refused_operand_is_named() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(DTypeError, match=r"^multiply, y: cannot make an array of numbers from ndarray.* object: pass"):
        x * np.array([1, 2], object)
    with pytest.raises(DTypeError, match=r"^where, condition: a masked array would lose its mask"):
        np.where(np.ma.masked_array([True, False]), x, x)
    with pytest.raises(DTypeError, match=r"^concatenate, argument 1: .* from ndarray, which gives dtype <U1"):
        np.concatenate([x, np.array(["a"])])


def test_the_columns_without_numbers_of_a_table_are_named() -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    table = pd.DataFrame({"size": [1.0, 2.0], "city": ["a", "b"], "sold": pd.to_datetime(["2020-01-01"] * 2)})
    x = Tensor([1.0, 2.0], requires_grad=True)
    for call in (lambda: Tensor(table), lambda: x[:, None] * table):
        with pytest.raises(
            DTypeError, match=r"from DataFrame, .* the columns 'city', 'sold' hold no numbers: leave out"
        ):
            call()
    for call in (lambda: Tensor(table["city"]), lambda: x * table["city"]):
        with pytest.raises(DTypeError, match=r"from Series, .* the column 'city' holds no numbers: leave out"):
            call()
    assert Tensor(table[["size"]]).shape == (2, 1)


def test_an_item_of_a_numpy_array_that_is_refused_a_tensor_says_why() -> None:
    """NumPy raises a ValueError of its own from what minigrad said."""
    x, out = Tensor([1.0, 2.0], requires_grad=True), np.zeros(2)
    with pytest.raises(ValueError) as caught:
        out[0] = x[0] ** 2
    said = said_by_minigrad(caught.value)
    assert isinstance(said, UnsupportedError) and re.search(r"np\.stack\(\[\.\.\.\]\).*a\.at\[i\]\.set\(t\)", str(said))
    assert said_by_minigrad(said) is said and said_by_minigrad(ValueError("another")) is None
    assert out.tolist() == [0, 0]
    for built in (np.stack([x[0] ** 2, x[1]]), Tensor(out).at[0].set(x[0] ** 2)):
        assert isinstance(built, Tensor) and built.requires_grad


def test_numpy_ma_does_not_find_a_tensors_array() -> None:
    """It takes the attribute `_data` of anything for its array, behind the back of `__array__`."""
    x, masked = Tensor([1.0, 2.0], requires_grad=True), np.ma.masked_array([1.0, 2.0], [False, True])
    for call in (lambda: masked * x, lambda: np.ma.add(masked, x), lambda: np.ma.masked_array(x)):
        with pytest.raises(UnsupportedError, match=r"t\.numpy\(\)"):
            call()


DOORS: dict[str, Callable[[Any], Any]] = {
    "Tensor": Tensor,
    "data": lambda v: setattr(Tensor([1.0, 2.0]), "data", v),
    "grad": lambda v: setattr(Tensor([1.0, 2.0], requires_grad=True), "grad", v),
    "backward": lambda v: (Tensor([1.0, 2.0], requires_grad=True) * 2).backward(v),
    "hook": lambda v: hooked(v),
    "index": lambda v: Tensor([1.0, 2.0])[v],
    "cotangent": lambda v: mg.vjp(lambda x: x * 2, np.ones(2))[1](v),
    "primal": lambda v: mg.grad(lambda x: x.sum())(v),
    "plain arrays only": lambda v: mg.softmax(v),
}


def hooked(value: Any) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: value)
    x.sum().backward()


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_way_in_has_the_door(door: Callable[[Any], Any]) -> None:
    with pytest.raises(DTypeError, match=r"filled"):
        door(np.ma.masked_array([0, 1], [False, True]))
    with pytest.raises(DTypeError, match=r"astype\(float\)"):
        door(np.array([0, 1], object))


# --- What is given by keyword, and indices ---


def written_over(value: Any) -> Iterator[None]:
    """Writes over whatever can be written to, and, when it is asked for a second step, puts back what was there."""
    if isinstance(value, np.ndarray):
        before = value.copy()
        value[...] = np.roll(~value if value.dtype.kind == "b" else value, 1)
        yield
        value[...] = before
    elif isinstance(value, (list, tuple, dict)):
        parts = [written_over(item) for item in (value.values() if isinstance(value, dict) else value)]
        original = list(value)
        for part in parts:
            next(part, None)
        if isinstance(value, list):
            value.clear()
        yield
        if isinstance(value, list):
            value[:] = original
        for part in parts:
            next(part, None)


def derivatives(case: Case, monkeypatch: pytest.MonkeyPatch, *, writing: bool) -> list[np.ndarray] | None:
    """The gradients of a case, the keywords of whose operations are changed (`writing`) between forward and backward.

    None if that is an error, as it is of an array that a composition hands on as an operand.
    """
    given: list[Any] = []
    call = Primitive.__call__

    def remember(self: Primitive, *args: Any, **keywords: Any) -> Any:
        given.append(keywords)
        return call(self, *args, **keywords)

    inputs = oracle.inputs_of(case.arrays())
    with monkeypatch.context() as patch:
        patch.setattr(Primitive, "__call__", remember)
        loss = oracle.project(case.f(*inputs), 1)
    changed = written_over({str(i): keywords for i, keywords in enumerate(given)} if writing else {})
    next(changed)
    try:
        loss.backward()
    except GraphError:
        return None
    finally:
        next(changed, None)
    return oracle.gradients([t for t in inputs if isinstance(t, Tensor)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_was_given_by_keyword_may_be_changed_after_the_forward(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = derivatives(case, monkeypatch, writing=False)
    got = derivatives(case, monkeypatch, writing=True)
    assert want is not None
    if got is None:
        assert "np.piecewise" in case.id
        return
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
