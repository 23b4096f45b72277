"""What a written program checks, and what is refused while it is written."""

import contextlib
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests.minigrad.codegen.apart import outcomes_apart

X = np.array([0.5, -1.0, 2.0])


def branches(x: Any) -> Any:
    if np.sum(x) > 0:
        return np.sum(x * x)
    return np.sum(x)


def test_a_branch_becomes_a_check() -> None:
    program = mg.write_numpy(branches, X)
    assert program(X)[0] == 5.25
    with pytest.raises(ValueError, match=r"written where line \d+, 'if np.sum\(x\) > 0:', was True"):
        program(-X)
    (sentence,) = program.checks
    assert sentence.endswith("was True")


def test_shapes_dtypes_and_other_arguments_are_checked_before_anything_is_computed(tmp_path: Path) -> None:
    def f(x: Any, power: int, mode: str) -> Any:
        return np.sum(x**power) if mode == "sum" else np.mean(x**power)

    program = mg.write_numpy(f, X, 3, "sum")
    wrong: list[tuple[Any, type[Exception], str]] = [
        ((np.ones(4), 3, "sum"), mg.ShapeError, r"x has shape \(4,\): this program was written for \(3,\)"),
        ((np.ones(3, np.float32), 3, "sum"), mg.DTypeError, "x has dtype float32"),
        (([1.0, 2.0, 3.0], 3, "sum"), mg.DTypeError, "x is a list: pass a NumPy array"),
        ((X, 2, "sum"), mg.ArgumentError, "an argument is 2; the program was written for 3"),
        ((X, 3.0, "sum"), mg.ArgumentError, "written for 3"),
        ((X, 3, "mean"), mg.ArgumentError, "written for 'sum'"),
        ((X, 3), mg.ArgumentError, "must be nested like"),
    ]
    for arguments, kind, message in wrong:
        with pytest.raises(kind, match=message):
            program(*arguments)
    calls = [arguments for arguments, _, _ in wrong[:2]] + [(X, 2, "sum"), (X, 3, "mean")]
    outcomes = outcomes_apart(tmp_path, {"f": program}, {"f": calls})["f"]
    kinds = [outcome.partition(":")[0] for outcome in outcomes]
    assert kinds == ["ValueError", "TypeError", "ValueError", "ValueError"]


def test_results_share_no_memory_with_arguments_or_each_other() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x * y) + np.sum(y * x)

    def shared(x: Any) -> Any:
        return np.sum(x.reshape(3, 1) + x.reshape(1, 3))

    y = X + 1
    for program, arguments in ((mg.write_numpy(f, X, y), (X, y)), (mg.write_numpy(shared, X), (X,))):
        first: Any = program(*arguments)
        second: Any = program(*arguments)
        for gradient in first[1:]:
            gradient += 100.0  # writable, and shared with nothing
        assert all(np.array_equal(a, b) for a, b in zip(program(*arguments), second))


def test_the_caller_s_arrays_and_containers_are_left_alone() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["a"] * p["b"][0])

    example: Any = {"a": X.copy(), "b": [X + 1]}
    value, gradient = mg.write_numpy(f, example)(example)
    assert np.array_equal(example["a"], X)
    assert value == np.sum(X * (X + 1))
    assert list(gradient) == ["a", "b"]
    assert np.array_equal(gradient["b"][0], X)


_kept: list[Any] = []
_count = [0]


def _keeps(x: Any) -> Any:
    _kept.append(np.sum(x))
    return _kept[0] * np.sum(x)


def _counts(x: Any) -> Any:
    _count[0] += 1
    return np.sum(x) * float(_count[0])


def _catches(x: Any) -> Any:
    try:
        return np.sum(np.linalg.cholesky(np.outer(x, x) - np.eye(3)))
    except np.linalg.LinAlgError:
        return np.sum(x)


def _swallows(x: Any) -> Any:
    scale = 1.0
    with contextlib.suppress(Exception):
        scale = float(x.numpy().max())
    return np.sum(x) * scale


def _raises_floating(x: Any) -> Any:
    try:
        with np.errstate(all="raise"):
            return np.sum(np.exp(x))
    except FloatingPointError:
        return np.sum(x)


def _warns(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.sum(np.log(x * x))


def _in_a_thread(x: Any) -> Any:
    found: list[Any] = []

    def work() -> None:
        with contextlib.suppress(mg.UnsupportedError):
            found.append(np.sum(x))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0] if found else np.sum(x)


def _by_type(x: Any) -> Any:
    plain = x.numpy()
    return np.sum(x) * (2.0 if type(plain) is np.ndarray else 3.0)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "float": (
        lambda x: np.sum(x) * float(x.numpy()[0]),
        r"float\(x\) would write today's value into the program \(line \d+",
    ),
    "item": (lambda x: np.sum(x) * x[0].item(), r"x.item\(\) would write today's value"),
    "tolist": (lambda x: np.sum(x) * max(x.tolist()), r"x.tolist\(\) would write today's value"),
    "asarray": (lambda x: np.sum(x) * np.asarray(x.numpy()).max(), r"np.asarray\(x\)"),
    "an array's index": (lambda x: np.sum(x * np.eye(3)[np.argsort(x)]), "np.take"),
    "text": (lambda x: np.sum(x) * float(str(x.numpy()[0])), "the text of x"),
    "hash": (lambda x: np.sum(x) * len({x.numpy()[0]}), "hash"),
    "random": (lambda x: np.sum(x * np.random.default_rng().normal(size=3)), "written twice, the program differs"),
    "counted": (_counts, "written twice, the program differs"),
    "kept": (_keeps, "an array that an earlier call kept"),
    "caught": (_catches, "the function caught an error"),
    "swallowed": (_swallows, r"float\(x\) would write today's value"),
    "errstate": (_raises_floating, "np.errstate"),
    "warnings": (_warns, "warnings.catch_warnings"),
    "a thread": (_in_a_thread, "the work of another thread"),
    "type": (_by_type, r"computes something else than _by_type \(test_checks.py, line \d+\)"),
    "a function for NumPy": (
        lambda x: np.sum(x * np.apply_along_axis(np.sort, 0, x.numpy())),
        "a call of NumPy with the function",
    ),
    "no number": (lambda x: x, "returns one real number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_is_refused_with_the_reason(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(mg.UnsupportedError, match=message):
        mg.write_numpy(function, X)


def test_one_array_in_a_dict_is_no_array() -> None:
    program = mg.write_numpy(lambda p: np.sum(p["a"] * 2), {"a": X})
    assert program({"a": X})[0] == 3.0
    with pytest.raises(mg.ArgumentError, match="nested like"):
        program(X)


def test_a_dtype_that_depends_on_values_is_checked() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(np.linalg.eigvals(x)))

    symmetric, turning = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[0.0, 1.0], [-1.0, 0.0]])
    program = mg.write_numpy(f, symmetric)
    np.testing.assert_allclose(program(symmetric)[0], 5.0)
    with pytest.raises(ValueError, match="had dtype float64"):
        program(turning)


def test_nested_arguments_must_be_nested_as_in_the_example() -> None:
    def f(parameters: Any, pair: Any, scale: float) -> Any:
        return np.sum(parameters["a"] * pair[0] + parameters["b"] * pair[1]) * scale

    a, b = np.arange(3.0), np.ones(3)
    program = mg.write_numpy(f, {"a": a, "b": b}, (a, b), 2, argnum=0)
    assert float(program({"b": b, "a": a}, (a, b), 2)[0]) == f({"a": a, "b": b}, (a, b), 2)
    for parameters, pair, scale, error in [
        ({"a": a}, (a, b), 2, mg.ArgumentError),
        ({"a": a, "b": b, "c": b}, (a, b), 2, mg.ArgumentError),
        ({"a": a, "c": b}, (a, b), 2, mg.ArgumentError),
        ({"a": a, "b": b}, (a,), 2, mg.ArgumentError),
        ({"a": a, "b": b}, (a, b, b), 2, mg.ArgumentError),
        ({"a": a, "b": b}, (a, b), 3, mg.ArgumentError),
        ({"a": a, "b": b}, (a, b), 2.0, mg.ArgumentError),
        ({"a": a, "b": b[:2]}, (a, b), 2, mg.ShapeError),
        ({"a": a, "b": b}, (a, b.astype(np.float32)), 2, mg.DTypeError),
        ({"a": a, "b": b}, (a, [1.0, 1.0, 1.0]), 2, mg.MinigradError),
    ]:
        with pytest.raises(error):
            program(parameters, pair, scale)


def test_a_gradient_that_is_zero_but_for_rounding_is_no_difference() -> None:
    """Softmax does not see what all scores of a query share, so the gradient of a key's bias is what rounding leaves."""

    def f(x: Any, key: Any, bias: Any) -> Any:
        scores = (x @ key + bias) @ x.swapaxes(-1, -2)  # (batch, key, query)
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.sum(((e / e.sum(axis=1, keepdims=True)).swapaxes(-1, -2) @ x) ** 2)

    random = np.random.default_rng(0)
    arguments = [random.normal(size=shape).astype(np.float32) for shape in [(16, 16, 32), (32, 32), (32,)]]
    program = mg.write_numpy(f, *arguments)
    assert np.abs(program(*arguments)[3]).max() < 1e-2 * np.abs(program(*arguments)[2]).max()
