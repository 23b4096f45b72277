"""What a written program checks, and what is refused while it is written."""

import contextlib
import pickle
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.codegen import witness, writing
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


def _keeps_second(x: Any) -> Any:
    _kept.append(np.sum(x))
    return np.sum(x) * _kept[0]


def _copies(x: Any) -> Any:
    buffer = np.ones(3)
    np.copyto(buffer, x.numpy())
    return np.sum(x * buffer)


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


def _hides(x: Any) -> Any:
    try:
        return np.sum(x) * float(x.numpy()[0])
    except mg.UnsupportedError:
        raise ValueError("no number") from None


def _keeps_quietly(x: Any) -> Any:
    _kept.append(x.numpy())
    with contextlib.suppress(mg.UnsupportedError):
        _kept[0] + 1.0  # in the second run, an array of the first one
    return np.sum(x)


def _writes_into_a_constant(x: Any) -> Any:
    constant, _ = np.atleast_1d(np.linspace(0, 1, 12).reshape(4, 3), x.numpy())
    constant += 1.0
    return np.sum(x * constant)


def _writes_into_its_argument(x: Any) -> Any:
    x.numpy()[0] = 1.0
    return np.sum(x)


def _at_the_edge(x: Any) -> Any:
    """Be what the program is at the example, and something else before a check stops it."""
    away = np.abs(x.numpy()[0] - 0.5)
    plain = type(away) is np.float64
    return np.sum(x) * (2.0 if away < 0.02 and plain and away > 0.01 else 1.0)


def _of_one_example(x: Any) -> Any:
    if np.any(x != X):
        raise ValueError("another array")
    return np.sum(x)


def _by_type(x: Any) -> Any:
    plain = x.numpy()
    return np.sum(x) * (2.0 if type(plain) is np.ndarray else 3.0)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "float": (
        lambda x: np.sum(x) * float(x.numpy()[0]),
        r"float\(x\) would write the value of this run into the program \(line \d+",
    ),
    "item": (lambda x: np.sum(x) * x[0].item(), r"x.item\(\) would write the value of this run"),
    "tolist": (lambda x: np.sum(x) * max(x.tolist()), r"x.tolist\(\) would write the value of this run"),
    "asarray": (lambda x: np.sum(x) * np.asarray(x.numpy()).max(), r"np.asarray\(x\)"),
    "an array's index": (lambda x: np.sum(x * np.eye(3)[np.argsort(x)]), ".*: use .*np.take"),
    "text": (lambda x: np.sum(x) * float(str(x.numpy()[0])), "the text of x"),
    "hash": (lambda x: np.sum(x) * len({x.numpy()[0]}), "hash"),
    "int": (lambda x: np.sum(x) * int(x.numpy()[2]), r"int\(x\) would write the value of this run"),
    "complex": (lambda x: np.sum(x) * abs(complex(x.numpy()[0])), r"complex\(x\) would write the value of this run"),
    "bytes": (lambda x: np.sum(x) * len(x.numpy().tobytes()), r"x.tobytes\(\) would write the value of this run"),
    "format": (lambda x: np.sum(x) * float(f"{x.numpy()[0]:.3f}"), "the text of x"),
    "pickle": (lambda x: np.sum(x) * len(pickle.dumps(x.numpy())), "a pickle of x"),
    "flags": (lambda x: np.sum(x) * x.numpy().flags.c_contiguous, "x.flags cannot be written down"),
    "another attribute": (lambda x: np.sum(x) * len(x.numpy().ctypes.shape), "x.ctypes cannot be written down"),
    "memory": (lambda x: np.sum(x) * np.shares_memory(x.numpy(), X), "the answer of np.shares_memory"),
    "a result": (lambda x: np.sum(x) * len(np.array2string(x.numpy())), "a result of type str"),
    "out": (lambda x: np.sum(x * np.add(x.numpy(), 1, out=np.ones(3))), "a write of np.add into a NumPy array"),
    "out of a function": (lambda x: np.sum(x * np.cumsum(x.numpy(), out=np.ones(3))), "np.cumsum with out="),
    "copyto": (_copies, "a write of np.copyto into a NumPy array"),
    "argument": (_writes_into_its_argument, "a write into an argument"),
    "constant": (_writes_into_a_constant, ".*computes something else than _writes_into_a_constant"),
    "ndarray's own": (
        lambda x: np.sum(x) * np.ndarray.sum(x.numpy()),
        "the function works on arrays, but not on arrays that write",
    ),
    "hidden": (_hides, r"float\(x\) would write the value of this run"),
    "edge": (_at_the_edge, ".*computes something else than _at_the_edge"),
    "example": (_of_one_example, ".*could be compared with _of_one_example .* on the example only"),
    "kept quietly": (_keeps_quietly, "an array that an earlier call kept"),
    "kept, second": (
        _keeps_second,
        "an array that an earlier call kept",
    ),
    "random": (lambda x: np.sum(x * np.random.default_rng().normal(size=3)), "written twice, the program differs"),
    "counted": (_counts, "written twice, the program differs"),
    "kept": (_keeps, "an array that an earlier call kept"),
    "caught": (_catches, "the function caught an error"),
    "swallowed": (_swallows, r"float\(x\) would write the value of this run"),
    "errstate": (_raises_floating, "np.errstate"),
    "warnings": (_warns, "warnings.catch_warnings"),
    "a thread": (_in_a_thread, "the work of another thread"),
    "type": (_by_type, r".*computes something else than _by_type \(test_checks.py, line \d+\)"),
    "a function for NumPy": (
        lambda x: np.sum(x * np.apply_along_axis(np.sort, 0, x.numpy())),
        "a call of NumPy with the function",
    ),
    "no number": (lambda x: x, ".*returns one real number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_is_refused_with_the_reason(name: str) -> None:
    function, message = REFUSED[name]
    _kept.clear()
    with pytest.raises(mg.UnsupportedError) as caught:
        mg.write_numpy(function, X)
    said = re.sub(r'(\(line \d+): ".*"\)', r"\1)", str(caught.value))  # without the line, which may hold the message
    assert re.match(message, said), said


def _puts_into_an_array(x: Any) -> Any:
    buffer = np.zeros_like(x.numpy())
    buffer[0] = x[0]
    return np.sum(x * buffer)


def _without_a_key(x: Any) -> Any:
    return np.sum(x) * dict[str, float]()["scale"]


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (_without_a_key, KeyError, "scale"),
        (_puts_into_an_array, mg.UnsupportedError, "np.stack"),
        (lambda x: np.sum(x) * [1.0, 2.0, 3.0][x.numpy()[2]], TypeError, "list indices must be|only integer scalar arrays"),
        (lambda x: np.sum(x) * [1.0, 2.0, 3.0][x.numpy()[:1] > 0], TypeError, "only integer scalar arrays"),
    ],
)  # fmt: skip
def test_an_error_of_the_function_itself_stays_its_own(
    function: Callable[..., Any], error: type[Exception], message: str
) -> None:
    for call in (mg.value_and_grad(function), lambda x: mg.write_numpy(function, x)):
        with pytest.raises(error, match=message):
            call(X)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (({(0, 1): X},), {}, mg.UnsupportedError, "the keys of p must be strings or integers"),
        ((X, object()), {}, mg.UnsupportedError, "other objects belong into the function"),
        ((X,), {"argnum": 1}, mg.ArgumentError, "argnum=1 must name floating arguments"),
        ((X, X), {"argnum": (0, 0)}, mg.ArgumentError, "each once"),
        ((X, np.arange(3)), {"argnum": 1}, mg.ArgumentError, "must name floating arguments"),
        ((np.arange(3),), {}, mg.ArgumentError, "there is nothing to differentiate"),
    ],
)  # fmt: skip
def test_an_argument_that_a_program_cannot_take_is_refused(
    arguments: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        mg.write_numpy(lambda p, *others: np.sum(p), *arguments, **options)


def test_an_integer_is_checked_again_after_a_write() -> None:
    def f(x: Any) -> Any:
        count = np.reshape(np.sum(x.numpy() > 0), ())
        first = int(count)
        count += x.numpy()[0] > 1
        return np.sum(x) * first * int(count)

    program = mg.write_numpy(f, X)
    assert program(X)[0] == 6.0
    assert len(program.checks) == 2
    with pytest.raises(ValueError, match="read 2"):
        program(np.array([1.5, -1.0, 2.0]))


def test_a_shape_that_depends_on_values_is_checked() -> None:
    program = mg.write_numpy(lambda x: np.sum(x[x.numpy() > 0] ** 2) * len(np.unique(np.sign(x.numpy()))), X)
    assert program(X)[0] == 8.5
    for other in (np.array([0.5, 1.0, 2.0]), np.array([0.5, -1.0, 0.0])):
        with pytest.raises(ValueError, match="had shape"):
            program(other)


def test_a_program_that_stops_on_its_own_example_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = writing.__dict__["WrittenProgram"]

    def stopping(step: str, *rest: Any) -> Any:
        return made(
            step.replace("    loss =", "    if x[0] == 0.5:\n        raise ValueError('too early')\n    loss ="), *rest
        )

    def f(x: Any) -> Any:
        loss = np.sum(x)
        return loss

    assert "    loss =" in mg.write_numpy(f, X).source
    monkeypatch.setattr(writing, "WrittenProgram", stopping)
    with pytest.raises(ValueError, match="too early"):
        mg.write_numpy(f, X)


CHANGED = np.array([0.5, -1.0, 2.5])


@pytest.mark.parametrize(
    ("found", "expected", "given", "right"),
    [
        ([X + 1, X + 2], [X + 1, X + 2], [X], True),
        ([X + 1], [X + 1.1], [X], False),
        ([(X + 1)[None]], [X + 1], [X], False),
        ([(X + 1).astype(np.float32)], [X + 1], [X], False),
        ([np.full(3, np.nan)], [X], [X], False),
        ([X], [X], [X], False),
        ([CHANGED, CHANGED[::-1]], [CHANGED, CHANGED[::-1]], [X], False),
        ([X + 1], [X + 1], [CHANGED], False),
    ],
    ids=["right", "value", "shape", "dtype", "nan", "an argument's memory", "shared memory", "a changed argument"],
)
def test_results_are_compared_with_the_tape_in_all_that_matters(
    found: Any, expected: Any, given: Any, right: bool
) -> None:
    assert witness.right(found, expected, given, [X.copy()]) == right


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
