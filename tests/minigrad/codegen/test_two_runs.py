"""What two runs cannot see by themselves: each construct is right, or refused in a sentence that names the line."""

import contextlib
import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad._tree import leaves
from tests.minigrad.codegen import hostile_programs, ordinary_programs
from tests.minigrad.codegen.apart import close, on_the_tape
from tests.minigrad.codegen.measure import names_a_line, outcome
from tests.minigrad.codegen.test_programs import is_float

X = np.array([0.5, -1.0, 2.0])
K = np.array([3, 1, 2])
P = np.array([0.25, 0.25, 0.5])
SQUARE = np.outer(X, X) + np.eye(3)

_kept: list[Any] = []
_by_name: dict[str, Any] = {}


def returns_in_finally(x: Any) -> Any:
    try:
        return np.sum(x) * float(x.numpy()[0])
    finally:
        return np.sum(x)  # noqa: B012, SIM107


def suppresses_all(x: Any) -> Any:
    with contextlib.suppress(BaseException):
        return np.sum(x) * x.numpy().max().item()
    return np.sum(x)


def catches_in_a_hook(x: Any) -> Any:
    y = x * x

    def hook(g: Any) -> Any:
        with contextlib.suppress(Exception):
            return g * float(np.sum(g))
        return g

    y.register_hook(hook)
    return np.sum(np.sin(y))


def falls_back_from_cholesky(a: Any) -> Any:
    try:
        return np.sum(np.linalg.cholesky(a - 2 * np.eye(3)))
    except np.linalg.LinAlgError:
        return np.sum(np.linalg.cholesky(a))


def falls_back_from_an_index(x: Any) -> Any:
    try:
        return x[5] * 2
    except IndexError:
        return np.sum(x)


def raises_on_overflow(x: Any) -> Any:
    with contextlib.suppress(FloatingPointError), np.errstate(over="raise"):
        return np.sum(np.exp(x))
    return np.sum(x)


def keeps_and_catches(x: Any) -> Any:
    try:
        scale = np.sum(_kept[0])
    except Exception:
        scale = 1.0
    _kept.append(x)
    return np.sum(x) * scale


def keeps_by_name(x: Any) -> Any:
    return np.sum(_by_name.setdefault("first", np.tanh(x)) * x)


def asks_for_the_type(x: Any, k: Any) -> Any:
    return np.sum(x) * (2.0 if type(k) is np.ndarray else 3.0)


def asks_for_the_interface(x: Any, k: Any) -> Any:
    return np.sum(x) * (2.0 if hasattr(k, "__array_interface__") else 3.0)


def smallest_dtype(x: Any, k: Any) -> Any:
    return np.sum(x) * np.min_scalar_type(k[0]).itemsize


def shared_memory(x: Any, k: Any) -> Any:
    return np.sum(x) * (2.0 if np.shares_memory(k, k[1:]) else 3.0)


OF_ONE = [
    returns_in_finally, suppresses_all, catches_in_a_hook, falls_back_from_an_index, raises_on_overflow, keeps_and_catches,
    keeps_by_name,
]  # fmt: skip
OF_TWO = [asks_for_the_type, asks_for_the_interface, smallest_dtype, shared_memory]
REFUSED: dict[str, tuple[Any, Any]] = {
    "falls_back_from_cholesky": (falls_back_from_cholesky, (SQUARE,)),
    **{f.__name__: (f, (X,)) for f in OF_ONE},
    **{f.__name__: (f, (X, K)) for f in OF_TWO},
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence_that_names_the_line(name: str) -> None:
    function, arguments = REFUSED[name]
    _kept.clear()
    _by_name.clear()
    with pytest.raises(mg.UnsupportedError) as refusal:
        mg.write_numpy(function, *arguments)
    (line,) = re.findall(r"\bline (\d+)", str(refusal.value))
    first = function.__code__.co_firstlineno
    assert first <= int(line) <= first + 12


def matches_a_class(x: Any, k: Any) -> Any:
    match k:
        case np.ndarray(shape=(3,)):
            return np.sum(x * k)
        case _:
            return np.sum(x)


@functools.singledispatch
def weight(_: Any) -> float:
    return 3.0


@weight.register
def _(_: np.ndarray) -> float:
    return 2.0


@functools.lru_cache
def table(n: int) -> Any:
    return np.arange(n) * 0.5


def maybe_scaled(x: Any, scale: Any = None, *, power: int = 2) -> Any:
    return np.sum(x**power) if scale is None else np.sum(x**power) * scale


def of_a_sorted_grid(x: Any, grid: Any) -> Any:
    if not np.all(np.diff(grid) > 0):
        raise ValueError("the grid must be sorted")
    return np.sum(x[1:] * np.diff(grid))


def entropy(p: Any) -> Any:
    if not np.allclose(np.sum(p), 1):
        raise ValueError("probabilities must sum to one")
    return -np.sum(p * np.log(p))


RIGHT: dict[str, tuple[Callable[..., Any], Any, Any]] = {  # the function, its example, other data
    "isinstance": (lambda x, k: np.sum(x) * (2.0 if isinstance(k, np.ndarray) else 3.0), (X, K), (X + 1, K[::-1].copy())),
    "hasattr": (lambda x, k: np.sum(x) * (2.0 if hasattr(k, "no_such") else 3.0), (X, K), (X + 1, K)),
    "match": (matches_a_class, (X, K), (X + 1, K + 5)),
    "singledispatch": (lambda x, k: np.sum(x) * weight(k), (X, K), (X + 1, K + 5)),
    "can_cast": (lambda x, k: np.sum(x) * (2.0 if np.can_cast(k, np.int8) else 3.0), (X, K), (X, K + 1000)),
    "result_type": (lambda x, k: np.sum(x) * np.result_type(k[0], np.int8).itemsize, (X, K), (X, K + 1000)),
    "lru_cache": (lambda x: np.sum(x * table(3)), (X,), (X + 1,)),
    "no optional argument": (maybe_scaled, (X,), (X + 1,)),
    "None": (maybe_scaled, (X, None), (X + 1, None)),
    "a Python float": (maybe_scaled, (X, 2.0), (X + 1, 3.5)),
    "keyword-only": (functools.partial(maybe_scaled, power=3), (X, 2.0), (X + 1, 3.5)),
    "shared gradients": (lambda x, y: np.sum(x + y) + np.sum(y + x), (X, X + 1), (X + 1, X)),
    "gradients that are arguments": (lambda p: p["a"] @ p["b"], ({"a": X, "b": X + 1},), ({"a": X + 1, "b": X},)),
    "the argument itself": (lambda x: x, (np.array(2.0),), (np.array(3.0),)),
    "positive definite": (lambda a: np.sum(np.log(np.diag(np.linalg.cholesky(a)))), (SQUARE,), (SQUARE + np.eye(3),)),
    "a sorted grid": (of_a_sorted_grid, (X, np.sort(X)), (X, np.sort(X) * 2)),
    "probabilities": (entropy, (P,), (P[::-1].copy(),)),
    "labels": (lambda x, k: -np.sum(mg.log_softmax(x)[k]), (X, K % 3), (X + 1, np.array([2, 2, 0]))),
    "checkpoint": (lambda x: np.sum(mg.checkpoint(lambda v: np.exp(v) * v, x)), (X,), (X + 1,)),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_on_other_data(name: str) -> None:
    function, example, other = RIGHT[name]
    program = mg.write_numpy(function, *example)
    for data in (example, other):
        floating = tuple(i for i, each in enumerate(data) if any(map(is_float, leaves(each))))
        found: Any = program(*data)
        assert close(list(found), list(on_the_tape(function, data, floating)), 1e-12)
        arrays = [leaf for leaf in leaves([list(found), list(data)]) if isinstance(leaf, np.ndarray)]
        results = len([leaf for leaf in leaves(list(found)) if isinstance(leaf, np.ndarray)])
        assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays[:results]) for b in arrays[i + 1 :])


def only_for_its_example(p: Any) -> Any:
    if np.sum(p) != 1 or np.sum(p * np.arange(3)) != 1.25:
        raise ValueError("no distribution with this mean")
    return np.sum(p * p)


def test_without_other_data_a_second_example_is_asked_for_and_taken() -> None:
    with pytest.raises(mg.UnsupportedError, match=r"written where line \d+.*Give a second example"):
        mg.write_numpy(only_for_its_example, P)
    second = np.array([0.125, 0.5, 0.375])
    program = mg.write_numpy(only_for_its_example, P, sizes=[(second,)])
    assert program(second)[0] == np.sum(second * second)


def test_a_module_gets_its_parameters_back_after_an_interrupt() -> None:
    layer = nn.Affine(3, 2, rng=np.random.default_rng(0), dtype=np.float64)
    weight, values = layer.weight, layer.weight.numpy().copy()

    def interrupted(kind: type[BaseException]) -> Callable[..., Any]:
        def f(parameters: Any, x: Any) -> Any:
            if not isinstance(nn.functional_call(layer, parameters, x), float):
                raise kind
            return np.sum(x)

        return f

    parameters = {name: np.array(value) for name, value in layer.state_dict().items()}
    for kind in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(kind):
            mg.write_numpy(interrupted(kind), parameters, X)
        assert layer.weight is weight
        assert np.array_equal(layer.weight.numpy(), values)


@pytest.mark.thorough
def test_every_refusal_of_the_hostile_programs_names_a_line() -> None:
    programs = {**ordinary_programs.PROGRAMS, **hostile_programs.PROGRAMS}
    found = {name: outcome(program) for name, program in list(programs.items())[::4]}
    assert not {name: each for name, each in found.items() if each[0] == "refused" and not names_a_line(each[1])}
