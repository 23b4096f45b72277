"""check_edges: a wrong rule turns its own edges red, and no others."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError
from minigrad.engine.registry import primitives
from minigrad.graph import Drawing
from minigrad.graph.watch.checks import check_edges, wrong_edges
from tests.leaves import leaf


def errors(graph: Drawing) -> dict[tuple[str | None, str], float | None]:
    return {(graph.nodes[edge.target].operation, edge.argument): edge.error for edge in graph.edges}


@pytest.fixture
def sabotage() -> Iterator[Any]:
    """What multiplies the rule of one primitive by 1.001, for one test."""
    undo = []

    def spoil(name: str, argument: str) -> None:
        primitive = primitives[name]
        plans, primitive._plans = primitive._plans, {}
        rules, primitive.rules = primitive.rules, dict(primitive.rules)
        undo.append((primitive, plans, rules))
        right = rules[argument]
        primitive.rules[argument] = lambda g, ans: 1.001 * right(g, ans)

    yield spoil
    for primitive, plans, rules in undo:
        primitive._plans, primitive.rules = plans, rules


def test_right_rules_have_small_errors_in_float32_too() -> None:
    for dtype in (np.float64, np.float32):
        x, w = leaf(np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3)), leaf(np.ones((3, 2), dtype))
        with mg.trace():
            loss = mg.cross_entropy(
                mg.layer_norm(np.tanh(x @ w), leaf(np.ones(2, dtype)), leaf(np.zeros(2, dtype))), np.array([0, 1])
            )
        graph = check_edges(loss)
        found = [error for error in errors(graph).values() if error is not None]
        assert len(found) == 7 and max(found) < 1e-7
        assert wrong_edges(graph) == []


def test_a_sabotaged_rule_turns_exactly_its_own_edges_red(sabotage: Any) -> None:
    sabotage("tanh", "x")
    x = leaf([0.5, -1.0])
    with mg.trace():
        loss = (np.tanh(x) * np.exp(x) + np.tanh(2 * x)).sum()
    graph = check_edges(loss)
    wrong = wrong_edges(graph)
    assert [graph.nodes[edge.target].operation for edge in wrong] == ["tanh", "tanh"]
    assert all(edge.error is not None and 1e-4 < edge.error < 2e-3 for edge in wrong)


def test_it_needs_no_backward_and_does_none() -> None:
    x = leaf(2.0)
    with mg.trace():
        y = x * x
    check_edges(y)
    assert x.grad is None
    y.backward()
    assert x.grad is not None and x.grad.item() == 4.0
    assert wrong_edges(check_edges(y)) == []  # and after one, which has freed what the tape kept


def test_at_a_kink_there_is_nothing_to_compare_with() -> None:
    x = leaf([0.0, 1.0])
    with mg.trace():
        y = mg.relu(x) + mg.relu(x + 1)
    kinked, smooth = (edge for edge in check_edges(y).edges if edge.argument == "x" and edge.target in (1, 4))
    assert kinked.verdict == "unclear" and "kink" in kinked.reason
    assert smooth.verdict == "agrees" and smooth.reason == ""
    assert smooth.error is not None and smooth.error < 1e-8


def test_several_outputs_integer_operands_and_complex_numbers() -> None:
    x = leaf(np.array([[2.0, 1.0], [0.5, 3.0]]))
    with mg.trace():
        sign, logdet = np.linalg.slogdet(x)
        picked = x[np.array([0, 1, 1])].sum()
        turned = np.exp(1j * x).real.sum()
        loss = sign * logdet + picked + turned
    found = [edge.error for edge in check_edges(loss).edges if edge.error is not None]
    assert len(found) >= 9 and max(found) < 1e-7


def test_constants_are_not_checked() -> None:
    x = leaf([1.0, 2.0])
    with mg.trace():
        y = x * np.array([3.0, 4.0])
    assert errors(check_edges(y))[("multiply", "y")] is None


def test_an_untraced_tensor_raises() -> None:
    with pytest.raises(GraphError, match=r"check_edges needs the operands .* 'with minigrad.trace\(\):'"):
        check_edges(leaf(1.0) * 2)
    with pytest.raises(ArgumentError, match="check_edges needs a Tensor"):
        check_edges(1.0)  # type: ignore[arg-type]


# --- what differences can tell, and what they cannot ---


def verdicts(compute: Any) -> dict[tuple[str | None, str], str | None]:
    with np.errstate(all="ignore"), mg.trace():
        graph = check_edges(compute())
    assert all((edge.reason != "") == (edge.verdict == "unclear") for edge in graph.edges)
    return {(graph.nodes[edge.target].operation, edge.argument): edge.verdict for edge in graph.edges if edge.verdict}


rng = np.random.default_rng(0)
MASK = rng.random((4, 4)) < 0.6
MASK[:, 0] = True


def exploding() -> Any:
    W, h = leaf(3 * rng.standard_normal((6, 6))), leaf(rng.standard_normal(6))
    for _ in range(60):
        h = np.maximum(W @ h, 0.1 * (W @ h))
    return h.sum()


@pytest.mark.parametrize(
    "compute",
    [
        lambda: (mg.softmax(np.where(MASK, leaf(rng.standard_normal((4, 4))), -1e9)) ** 2).sum(),
        lambda: (mg.softmax(np.where(MASK, leaf(rng.standard_normal((4, 4))), -1e30)) ** 2).sum(),
        lambda: (leaf(1e4 * (1 + rng.random(20))) ** 2).mean(),
        exploding,
        lambda: np.tanh(leaf([40.0, -50.0])) + mg.relu(leaf([-3.0, -1.0])),  # all zero
        lambda: np.sum(leaf([1e8, 1e-8, 1.0])) + leaf(1e8) * leaf(1e-8) + leaf(1e-8),
        lambda: np.exp(leaf([1e-20, 30.0, -700.0])) * np.log(leaf([1e-300, 1e-8, 1e8])),
        lambda: np.tanh(leaf(np.array([[1e-4, 1e4]], np.float32)) @ leaf(np.array([[1e3], [1e-5]], np.float32))),
        lambda: np.abs(leaf([1e-6 + 1e6j, 2.0]) * leaf([1.0, 1e-9])),
        lambda: np.arcsin(leaf([0.5, 1 - 1e-6])) + np.log1p(leaf([-1 + 1e-6, 1e-12])),
    ],
)
def test_right_derivatives_at_any_scale_agree(compute: Any) -> None:
    assert set(verdicts(compute).values()) == {"agrees"}


@pytest.mark.parametrize(
    ("compute", "edge", "reason"),
    [
        (lambda: mg.relu(leaf(0.0)), ("relu", "x"), "kink"),
        (lambda: np.tanh(leaf(18.7)), ("tanh", "x"), "rounding"),
        (lambda: np.sqrt(leaf([0.0, 1.0])), ("sqrt", "x"), "infinite or NaN"),
        (lambda: np.log(leaf([0.0, 1.0])), ("log", "x"), "infinite or NaN"),
        (lambda: np.sin(leaf(1e15)), ("sin", "x"), ""),
        (lambda: np.sort(leaf([1.0, 1.0, 1.0])), ("sort", "a"), "kink"),
    ],
)
def test_what_differences_cannot_tell_is_unclear_and_says_why(compute: Any, edge: Any, reason: str) -> None:
    with np.errstate(all="ignore"), mg.trace():
        graph = check_edges(compute())
    (found,) = (e for e in graph.edges if (graph.nodes[e.target].operation, e.argument) == edge)
    assert found.verdict == "unclear" and reason in found.reason
    assert wrong_edges(graph) == []


def wrong(rule: Any) -> Any:
    return mg.primitive(lambda x, /: 2 * x, name="twice").vjp(x=rule)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("rule", "x"),
    [
        (lambda g: 2 * g * np.array([1, 1.01, 1]), [1e8, 1e-8, 1.0]),  # in one small number only
        (lambda g: 2 * g * np.array([1, 1, 1.01]), [1e8, 1e-8, 0.0]),
        (lambda g: 2.001 * g, [1e-100, 1e100, 1.0]),
        (lambda g: 0 * g, [1e-8, 3.3, 5.5]),
        (lambda g: 2 * g * np.array([1, np.nan, 1]), [1.0, 2.0, 3.0]),
        (lambda g: 2 * g[::-1], [1.0, 2.0, 3.0]),
        (lambda g: 2.1 * g, [1e60, 1e200, 1e-200]),
    ],
)
def test_a_mistake_at_any_scale_is_found(rule: Any, x: Any, seed: int) -> None:
    with mg.trace():
        y = wrong(rule)(leaf(x))
    assert [edge.verdict for edge in check_edges(y, seed=seed).edges] == ["wrong"]


@pytest.mark.parametrize("seed", range(5))
def test_a_small_addend_beside_a_large_one_is_seen(seed: int) -> None:
    total = mg.primitive(lambda x, /: np.sum(x), name="total").vjp(x=lambda g: g * np.array([1.0, 1.01, 1.0]))
    with mg.trace():
        y = total(leaf([1e8, 1e-8, 1e8]))
    assert [edge.verdict for edge in check_edges(y, seed=seed).edges] == ["wrong"]


def test_a_rule_that_raises_or_has_a_wrong_shape_is_reported() -> None:
    def broken(g: Any) -> Any:
        raise RuntimeError("no rule")

    for rule, message in ((broken, "no rule"), (lambda g: g[:2], "shape")):
        with mg.trace():
            y = wrong(rule)(leaf([1.0, 2.0, 3.0]))
        with pytest.raises(Exception, match=message):
            check_edges(y)


def test_a_mistake_where_the_result_is_flat_and_large_is_not_confirmed() -> None:
    flat = mg.primitive(lambda x, /: 1e60 + 0 * x, name="flat").vjp(x=lambda g: 1e50 * g)
    with mg.trace():
        y = flat(leaf([1.0, 2.0]))
    assert [edge.verdict for edge in check_edges(y).edges] != ["agrees"]


class Power(mg.Function):
    """``x ** n``, whose backward is right if ``factor`` is 1."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int, *, factor: float = 1.0) -> Any:
        assert type(n) is int
        ctx.save_for_backward(x)
        ctx.n, ctx.factor = n, factor
        return x**n

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.factor * ctx.n * x ** (ctx.n - 1), None


class Unsteady(mg.Function):
    count = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        Unsteady.count += 1
        ctx.count = Unsteady.count
        return x * Unsteady.count

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.count


class Single(mg.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        if x.dtype != np.float32:
            raise KeyError("float32 only")
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


@pytest.mark.parametrize(
    ("f", "verdict", "reason"),
    [
        (lambda x: Power.apply(x, 3), "agrees", ""),
        (lambda x: Power.apply(x, 3, factor=0.5), "wrong", ""),
        (Unsteady.apply, "unclear", "gives another result when it runs again"),
        (Single.apply, "unclear", "was not run again"),
    ],
)
def test_a_function_is_checked_or_said_to_be_left_out(f: Any, verdict: str, reason: str) -> None:
    x = mg.Tensor(np.array([1.5, 2.0], np.float32), requires_grad=True)
    with mg.trace():
        loss = (f(x) + 1).sum()
    edge = mg.check_edges(loss).edges[0]
    assert edge.verdict == verdict and reason in edge.reason
