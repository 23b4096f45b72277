"""Stretches of elementwise operations are swept some rows at a time: to the same gradients, whatever else a sweep does."""

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GraphError, Tensor
from minigrad.engine.kernels import Kernel
from minigrad.engine.observers import attach
from minigrad.engine.tape import sweep
from minigrad.kernels import stretches, threads
from minigrad.rules.elementwise import tanh
from tests.minigrad.rules import cases_elementwise, cases_reductions, cases_special, oracle  # noqa: F401 - their cases
from tests.minigrad.rules.cases import CASES, Case

ROWS, COLUMNS = 13, 6
MASK = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 3 > 0


sweep_blocks = stretches._sweep_blocks


class Stretches:
    """How many entries each stretch had."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.nodes: list[int] = []  # that get something

    def sweep(self, stretch: Any, nodes: Any, *others: Any) -> Any:
        self.lengths.append(len(stretch))
        self.nodes.append(len(nodes))
        return sweep_blocks(stretch, nodes, *others)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Stretches:
    """Arrays of a test's size are swept by rows: 24 numbers at a time, four rows."""
    spy = Stretches()
    monkeypatch.setattr(stretches, "LARGE", 2)
    monkeypatch.setattr(stretches, "_sweep_blocks", spy.sweep)
    monkeypatch.setattr(threads, "BLOCK", 4 * COLUMNS)
    monkeypatch.setattr(stretches, "BLOCK", 4 * COLUMNS)
    monkeypatch.setattr(threads, "_LARGE", 1)
    return spy


def leaves(*arrays: Any) -> list[Any]:
    return [Tensor(array, requires_grad=True) for array in arrays]


def gradients_of(f: Callable[..., Any], arrays: list[Any]) -> list[np.ndarray]:
    inputs = [Tensor(a, requires_grad=True) if oracle.differentiable(a) else a for a in arrays]
    oracle.project(f(*inputs), 1).backward()
    return oracle.gradients([t for t in inputs if isinstance(t, Tensor)])


def assert_as_entry_by_entry(f: Callable[..., Any], arrays: list[Any], rtol: float = 1e-12) -> None:
    by_rows = gradients_of(f, arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "LARGE", math.inf)
        expected = gradients_of(f, arrays)
    for ours, theirs in zip(by_rows, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case(found: Stretches, case: Case) -> None:
    with np.errstate(all="ignore"):
        assert_as_entry_by_entry(case.f, case.arrays(), 1e-10)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    x = x - np.mean(x, axis=-1, keepdims=True)
    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-5) * gain + bias


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.04 * x * x * x)))


# Of x (13, 6), a column (13, 1), two rows (6,) and (1, 6), and a number; with the lengths of the stretches that they have.
PROGRAMS: dict[str, tuple[Callable[..., Any], list[int] | None]] = {
    "a formula": (lambda x, c, r, s, n: np.tanh(x) * np.exp(-x * x) + x * np.sin(x), [7]),
    "softmax, gelu and layer norm": (lambda x, c, r, s, n: layer_norm(softmax(gelu(x * r + s) + x), r, s) * c, [27]),
    "broadcast operands": (lambda x, c, r, s, n: (x * r + s) / (c * c + 1) * n - r, [6]),
    "a number under all": (lambda x, c, r, s, n: np.exp(x * np.sin(n) + n) * np.log(r * r + 1), [3]),
    "used behind as well": (
        lambda x, c, r, s, n: (y := np.tanh(x * r)) * y + (y @ np.ones((COLUMNS, COLUMNS))) * y,
        None,
    ),
    "a product between": (lambda x, c, r, s, n: np.tanh(np.sin(x * r) @ np.ones((COLUMNS, COLUMNS)) / 6), None),
    "a sum over rows": (lambda x, c, r, s, n: np.sin(x - np.mean(x * c, axis=0, keepdims=True)) * x, None),
    "a product with a column": (lambda x, c, r, s, n: np.tanh(np.sin(x) * ((x * r) @ (s.T * 2)) * c), None),
    "a product of squares": (lambda x, c, r, s, n: np.sin((x @ (y := x.T * 1)) * c @ (x @ y)), None),
    "variances": (
        lambda x, c, r, s, n: x * r / np.var(x * s, axis=1, keepdims=True, ddof=1) * np.std(x, -1, keepdims=True),
        None,
    ),
    "a third axis": (lambda x, c, r, s, n: np.tanh(np.sum(x[..., None] * np.sin(x[:, None]), axis=-1) * r), None),
    "a sum of some": (lambda x, c, r, s, n: np.sin(x * np.sum(x * c, axis=1, keepdims=True, where=MASK)), None),
    "another dtype": (lambda x, c, r, s, n: np.sin(np.exp(x, dtype=np.complex128) * c) * x, None),
    "all the rest of a row": (lambda x, c, r, s, n: np.sin(x * np.max(np.abs(x) * c, axis=(-1,), keepdims=True)), None),
    "pieces": (lambda x, c, r, s, n: np.multiply(*np.split(np.tanh(x) * r, 2, axis=1)) * c, None),
    "whole parts": (lambda x, c, r, s, n: (lambda parts: parts[0] * parts[1] * c)(np.modf(x * r * 3)), None),
    "a constant": (lambda x, c, r, s, n: np.tanh(x * np.arange(6.0) + r) * np.ones((ROWS, 1)) * x, None),
    "another number of axes": (lambda x, c, r, s, n: np.tanh(np.exp(x)[:, None] * np.sin(r)) * 2, None),
    "relu with ties": (lambda x, c, r, s, n: np.maximum(np.maximum(x, 0) * r, np.minimum(x, 0)) * c, None),
}


OF_REAL_NUMBERS = ("softmax, gelu and layer norm", "relu with ties", "whole parts")


def inputs(dtype: Any = np.float64, rows: int = ROWS) -> list[Any]:
    rng = np.random.default_rng(3)
    shapes = ((rows, COLUMNS), (rows, 1), (COLUMNS,), (1, COLUMNS), ())
    return [np.asarray(rng.uniform(-1, 1, shape), dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(found: Stretches, name: str, dtype: Any) -> None:
    program, _ = PROGRAMS[name]
    if np.dtype(dtype).kind == "c" and name in OF_REAL_NUMBERS:
        pytest.skip("no order among complex numbers")
    assert_as_entry_by_entry(program, inputs(dtype), 1e-5 if dtype == np.float32 else 1e-12)
    assert found.lengths


@pytest.mark.parametrize("name", ["softmax, gelu and layer norm", "broadcast operands", "a number under all"])
def test_a_row_is_no_column(found: Stretches, name: str) -> None:
    """Of a square array a row (6,) has as many numbers as there are rows."""
    assert_as_entry_by_entry(PROGRAMS[name][0], inputs(rows=COLUMNS))
    assert found.lengths


def test_rows_longer_than_a_block_are_left_whole(found: Stretches) -> None:
    assert_as_entry_by_entry(lambda x: np.tanh(x) * np.exp(x), [np.random.default_rng(0).random((3, 4 * COLUMNS + 1))])
    assert not found.lengths


def test_columns_in_memory_are_left_whole(found: Stretches) -> None:
    x, c, *_ = inputs()
    for array in (np.asfortranarray(x), np.stack([x, x]).T, x.T):
        assert_as_entry_by_entry(lambda x: np.tanh(x) * np.exp(x), [array])
    assert_as_entry_by_entry(lambda x: (y := x.T[:, ::-1]) * y + y, [x])
    assert not found.lengths
    assert_as_entry_by_entry(lambda x, c: np.tanh(x[::-1, ::-1]) * np.exp(x[:, ::-1]) * c, [x, c])
    assert max(found.lengths) == 6


def test_rules_of_users_get_whole_arrays(found: Stretches, monkeypatch: pytest.MonkeyPatch) -> None:
    def clipped(g: Any, ans: Any) -> Any:
        seen.append(g.shape)
        return g / np.linalg.norm(g)

    seen: list[Any] = []
    monkeypatch.setitem(tanh.rules, "x", clipped)
    monkeypatch.setattr(tanh, "_plans", {})
    (x,) = leaves(inputs()[0])
    np.sum(np.sin(tanh(np.sin(x) * x)) * x).backward()
    assert seen == [(ROWS, COLUMNS)]
    assert found.lengths == [2, 2]


def test_where_may_be_a_list(found: Stretches) -> None:
    where = [[i % 3 > 0] for i in range(ROWS)]
    assert_as_entry_by_entry(lambda x: x * np.sum(x * x, axis=1, keepdims=True, where=where), inputs()[:1])


def test_what_nothing_arrives_at_gets_no_gradient(found: Stretches) -> None:
    class First(mg.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a + b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, None

    x, w = leaves(inputs()[0], inputs()[0])
    other = np.exp(np.cos(w))
    np.sum(First.apply(np.exp(np.sin(x)), other)).backward()
    assert w.grad is None
    np.sum(other).backward()  # nothing has passed it, and nothing was freed
    assert w.grad is not None
    assert found.lengths == [2, 2]


def test_long_chains_take_no_time_to_look_through(found: Stretches, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    by_rows = stretches._by_rows

    def look(entry: Any, shape: Any) -> bool:
        looked.append(entry)
        return by_rows(entry, shape)

    monkeypatch.setattr(stretches, "_by_rows", look)
    for step in (lambda y: y * 0.99 + 0.1, lambda y: np.tanh(y) + 0.1, lambda y: np.sum(np.tanh(y), axis=0) * y):
        (x,) = leaves(inputs()[0])
        y = x
        for _ in range(300):
            y = step(y)
        del looked[:]
        np.sum(y).backward()
        assert len(looked) <= 2 * len(mg.tape(np.sum(y)))
    assert max(found.lengths) == stretches._MOST - 1  # the last one, a sum, keeps nothing


def test_a_sum_passes_on_what_it_got(found: Stretches) -> None:
    ws = leaves(*[np.ones((COLUMNS, COLUMNS))] * 5)
    x = inputs()[0]
    assert_as_entry_by_entry(lambda *ws: np.tanh(sum(x @ w for w in ws)), [np.ones((COLUMNS, COLUMNS))] * 5)
    del found.lengths[:]
    np.sum(np.tanh(sum(x @ w for w in ws))).backward()
    assert not found.lengths


def test_blocks_are_of_the_largest_array(found: Stretches) -> None:
    (x,) = leaves(inputs(rows=100)[0])
    np.sum(np.sqrt(np.sum(np.tanh(x) * x, axis=1, keepdims=True) + 9)).backward()
    assert found.lengths == [5]  # and none of its blocks is divided again


def test_what_is_called_keepdims_elsewhere(found: Stretches) -> None:
    upside_down = mg.primitive(lambda x, /, keepdims: x[::-1] * 1, name="upside down").vjp(
        x=lambda g, keepdims: g[::-1]
    )
    assert_as_entry_by_entry(lambda x: np.sin(upside_down(np.sin(x), keepdims=True)), inputs()[:1])
    assert found.lengths == [4]


def test_what_a_rule_gets_of_a_shape() -> None:
    rows, shape = slice(4, 8), (ROWS, COLUMNS)
    for whole, part in (
        ((ROWS, COLUMNS), (4, COLUMNS)),
        ((1, COLUMNS), (1, COLUMNS)),
        ((COLUMNS,), (COLUMNS,)),
        ((), ()),
    ):
        assert stretches._part("x_shape", whole, rows, shape) == part


@pytest.mark.parametrize("name", [name for name, (_, lengths) in PROGRAMS.items() if lengths])
def test_how_far_a_stretch_goes(found: Stretches, name: str) -> None:
    program, lengths = PROGRAMS[name]
    np.sum(program(*leaves(*inputs()))).backward()
    assert found.lengths == lengths


def random_program(rng: np.random.Generator, values: Any) -> Any:
    unary = (
        np.tanh,
        np.sin,
        np.negative,
        np.square,
        lambda x: np.sum(x, -1, keepdims=True),
        lambda x: x @ np.eye(x.shape[-1]),
    )
    binary = (np.add, np.subtract, np.multiply, np.maximum, lambda x, y: x / (y * y + 1))
    values = [*values]
    for _ in range(15):
        i, j = rng.integers(len(values), size=2)
        f = rng.integers(len(unary) + len(binary))
        shape = np.shape(values[i])
        if f < len(unary) and (f < 4 or len(shape) == 2):
            values.append(unary[f](values[i]))
        else:
            values.append(binary[f % len(binary)](values[i], values[j]))
    return sum(np.sum(value) for value in values[-4:])


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(found: Stretches, seed: int) -> None:
    assert_as_entry_by_entry(lambda *values: random_program(np.random.default_rng(seed), values), inputs(), 1e-9)


def test_the_bits_do_not_depend_on_the_number_of_threads(found: Stretches) -> None:
    before, results = mg.num_threads(), set()
    program, _ = PROGRAMS["softmax, gelu and layer norm"]
    try:
        for count in (1, 2, 3, 5):
            mg.set_num_threads(count)
            results.add(b"".join(g.tobytes() for g in gradients_of(program, inputs())))
    finally:
        mg.set_num_threads(before)
    assert len(results) == 1


# --- What else a sweep does ---


def test_what_is_asked_for_inside_is_found(found: Stretches) -> None:
    (x,) = leaves(inputs()[0])
    seen: list[Any] = []
    y = np.sin(x)
    z = np.exp(y * y)
    z.retain_grad()
    u = np.tanh(z * x)
    u.register_hook(lambda g: seen.append(g.numpy().copy()))
    np.sum(u * u).backward()
    np.testing.assert_allclose(seen[0], 2 * u.numpy(), rtol=1e-12)
    expected = 2 * u.numpy() * (1 - u.numpy() ** 2) * x.numpy()
    np.testing.assert_allclose(z.grad.numpy(), expected, rtol=1e-12)
    assert found.lengths


def test_only_what_is_wanted_gets_a_cotangent(found: Stretches) -> None:
    x, other = leaves(inputs()[0], inputs()[0])
    y = np.sin(x)
    z = np.exp(y * y)
    loss = np.sum(z * x * other)
    got = sweep({loss._node: np.ones(())}, wanted=[z._node, y._node])
    assert set(got) == {z._node, y._node}
    np.testing.assert_allclose(got[z._node], x.numpy() * other.numpy(), rtol=1e-12)
    np.testing.assert_allclose(got[y._node], (2 * y * z * x * other).numpy(), rtol=1e-12)
    assert (found.lengths, found.nodes) == ([2, 2], [1, 1])


def test_a_graph_is_kept_or_freed_as_ever(found: Stretches) -> None:
    (x,) = leaves(inputs()[0])
    loss = np.sum(np.tanh(x) * np.exp(x))
    entries = mg.tape(loss)
    loss.backward(retain_graph=True)
    assert all(entry.kept is not None for entry in entries)
    once = x.grad.numpy().copy()
    loss.backward()
    assert all(entry.kept is None for entry in entries)
    np.testing.assert_allclose(x.grad.numpy(), 2 * once, rtol=1e-12)
    with pytest.raises(GraphError, match="a second time"):
        loss.backward()
    assert len(found.lengths) == 2


def test_gradients_are_arrays_of_their_own(found: Stretches) -> None:
    x, y = leaves(inputs()[0], inputs()[0])
    np.sum(np.sin(x) + np.sin(y) * 1.0).backward()
    x.grad.data[...] = 7
    np.testing.assert_allclose(y.grad.numpy(), np.cos(y.numpy()), rtol=1e-12)
    for t in (x, y):
        assert t.grad.data.flags.writeable


@pytest.mark.parametrize("write", ["constant", "handed out"])
def test_changes_in_place_are_found(found: Stretches, write: str) -> None:
    (x,) = leaves(inputs()[0])
    constant = inputs()[0]
    y = np.tanh(x) * 2
    loss = np.sum(np.exp(y * y) * constant)
    if write == "constant":
        constant[0, 0] += 1
    else:
        y.data[0, 0] += 1
    with pytest.raises(GraphError, match="changed"):
        loss.backward()


def test_second_order_and_reference_mode_go_entry_by_entry(found: Stretches) -> None:
    (x,) = leaves(inputs()[0])
    with mg.reference_mode():
        np.sum(np.tanh(x) * np.exp(x)).backward()
    np.sum(np.tanh(x) * np.exp(x)).backward(create_graph=True)
    assert not found.lengths


def test_who_observes_an_entry_sees_all_of_it(found: Stretches) -> None:
    class Note:
        def backward(self, entry: Any, cotangent: Any, contributions: Any, seconds: float) -> None:
            seen.append(cotangent.shape)

    seen: list[Any] = []
    (x,) = leaves(inputs()[0])
    loss = np.sum(np.exp(np.sin(np.cos(x))) * x * x)
    attach(mg.tape(loss)[2], Note())
    loss.backward()
    assert seen == [(ROWS, COLUMNS)]
    assert found.lengths == [2, 2]


def test_a_kernel_gets_whole_arrays(found: Stretches, monkeypatch: pytest.MonkeyPatch) -> None:
    def backward(g: Any, needs: Any, saved: Any) -> Any:
        seen.append(g.shape)
        return (g * (1 - saved * saved),)

    seen: list[Any] = []
    kernel = Kernel(lambda x: (np.tanh(x), np.tanh(x)), backward, {})
    monkeypatch.setitem(tanh.kernels, np.ndarray, kernel)
    (x,) = leaves(inputs()[0])
    np.sum(np.sin(tanh(np.sin(x))) * 2).backward()
    assert seen == [(ROWS, COLUMNS)]


def test_it_takes_less_memory() -> None:
    """Entry by entry, the backward of this formula has eight arrays at a time."""
    x = Tensor(np.linspace(-1, 1, 3 << 20), requires_grad=True)
    loss = np.sum(np.tanh(x) * np.exp(-x * x) + x * np.sin(x))
    tracemalloc.start()
    loss.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * x.numpy().nbytes


def test_a_pull_that_is_no_turn_of_a_sweep_gives_its_contributions(found: Stretches) -> None:
    """Forward mode, and a hook of the same graph, ask a plan for them: a sweep under way then gets nothing of it."""
    (x,) = leaves(inputs()[0])
    y = np.sin(x) * np.tanh(x)
    entry, g = y._node, np.ones(y.shape)
    alone = entry.plan.pull(entry, g)
    asked: list[Any] = []
    z = y * 2
    z.register_hook(lambda _: asked.append(entry.plan.pull(entry, g)))
    np.sum(z).backward()
    for contributions in (alone, *asked):
        np.testing.assert_allclose(contributions, [np.tanh(x.numpy()), np.sin(x.numpy())])
    np.testing.assert_allclose(
        x.grad.numpy(), 2 * (np.cos(x.numpy()) * np.tanh(x.numpy()) + np.sin(x.numpy()) / np.cosh(x.numpy()) ** 2)
    )
    assert found.lengths == [3]
