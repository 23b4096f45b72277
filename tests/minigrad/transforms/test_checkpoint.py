"""checkpoint: the same gradients with less memory, and an error where the second run differs from the first."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Tensor, checkpoint
from tests import fake_device
from tests.lazy import torch
from tests.leaves import grad_of

X = np.random.default_rng(0).standard_normal((4, 3))


class Net(nn.Module):
    """Everything that could go wrong at once: parameters, kernels, dropout, several outputs."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.affine = nn.Affine(3, 3, rng=rng)
        self.norm = nn.LayerNorm(3)
        self.dropout = nn.Dropout(0.4, rng=rng)

    def forward(self, x: Any) -> Any:
        first, second = np.split(self.norm(mg.gelu(self.affine(x))), 2)
        return np.concatenate([self.dropout(first) * second, mg.softmax(second)]) + x


def leaf(array: Any = X) -> Tensor:
    return Tensor(array, requires_grad=True)


def plain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


WAYS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "one": lambda layer: lambda x: checkpoint(layer, checkpoint(layer, x)),
    "both in one": lambda layer: lambda x: checkpoint(lambda x: layer(layer(x)), x),
    "nested": lambda layer: lambda x: checkpoint(lambda x: layer(checkpoint(layer, x)), x),
    "nested twice": lambda layer: lambda x: checkpoint(lambda x: checkpoint(lambda x: layer(layer(x)), x), x),
    "without arguments": lambda layer: lambda x: checkpoint(lambda: layer(layer(x))),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_gradients_are_the_same(way: Any, create_graph: bool) -> None:
    """To the last bit, also those of parameters, and those of gradients."""
    net = Net()

    def gradients(f: Any) -> list[Any]:
        net.zero_grad()
        net.dropout.step = 0
        x = leaf(X.astype(np.float32))
        (f(x) ** 2).sum().backward(create_graph=create_graph)
        if create_graph:
            loss: Any = sum((t.grad * t.grad).sum() for t in (x, *net.parameters()) if t.grad is not None)
            for t in (x, *net.parameters()):
                t.zero_grad()
            loss.backward()
        assert net.dropout.step == 2
        return [grad_of(t) for t in (x, *net.parameters())]

    for got, want in zip(gradients(way(net)), gradients(lambda x: net(net(x))), strict=True):
        np.testing.assert_array_equal(got, want)


def test_beside_pytorch() -> None:
    theirs = torch.utils.checkpoint.checkpoint

    def run(m: Any, x: Any, w: Any, again: Any) -> Any:
        f = lambda x: m.tanh(x * w) * w
        return (again(f, again(f, x)) ** 2).sum()

    x, w = leaf(), leaf(X[0])
    tx, tw = (torch.tensor(t.numpy(), requires_grad=True) for t in (x, w))
    run(np, x, w, checkpoint).backward()
    run(torch, tx, tw, lambda f, x: theirs(f, x, use_reentrant=False)).backward()
    for got, want in ((x, tx), (w, tw)):
        np.testing.assert_allclose(grad_of(got), grad_of(want).numpy())


def test_nothing_is_kept_until_backward() -> None:
    hidden: list[Any] = []

    def f(x: Any) -> Any:
        h = np.exp(x)
        hidden.append(weakref.ref(h._array))
        return np.tanh(h * h)

    x = leaf()
    y = checkpoint(f, checkpoint(f, x))
    assert [ref() for ref in hidden] == [None, None]
    assert [entry.kept for entry in mg.tape(y)] == [()] * 6
    assert [entry.primitive.name for entry in mg.tape(y)] == ["exp", "multiply", "tanh"] * 2
    y.sum().backward()
    assert len(hidden) == 4 and [ref() for ref in hidden] == [None] * 4
    kept = leaf()
    f(f(kept)).sum().backward()
    np.testing.assert_array_equal(grad_of(x), grad_of(kept))


def test_nothing_is_kept_of_a_checkpoint_inside() -> None:
    """Not even what was given to it, which is an intermediate result of the one around it."""
    hidden: list[Any] = []

    def outer(x: Any) -> Any:
        h = np.exp(x)
        hidden.append(weakref.ref(h._array))
        return checkpoint(np.tanh, checkpoint(np.sin, h))

    x = leaf()
    y = checkpoint(outer, x)
    assert hidden[0]() is None
    y.sum().backward()
    np.testing.assert_allclose(grad_of(x), np.exp(X) * np.cos(np.exp(X)) / np.cosh(np.sin(np.exp(X))) ** 2)


def test_arrays_are_released_while_the_sweep_goes_on() -> None:
    seen: list[bool] = []
    late: list[Any] = []

    def look(g: Any) -> Any:
        seen.append(late[-1]() is None)
        return g

    early = mg.primitive(lambda x, /: x + 0, name="early").vjp(x=lambda g, x: look(g))

    def f(x: Any) -> Any:
        h = np.exp(early(x))
        late.append(weakref.ref(h._array))
        return np.tanh(h * h)

    checkpoint(f, leaf()).sum().backward()
    assert seen == [True] and len(late) == 2


def test_a_second_run_that_failed_can_be_repeated() -> None:
    fails = [False, True, False]

    def f(x: Any, rng: np.random.Generator) -> Any:
        y = x * rng.standard_normal(3)
        if fails.pop(0):
            raise MemoryError
        return y * y

    x, noise = leaf(), np.random.default_rng(7).standard_normal(3)
    y = checkpoint(f, x, np.random.default_rng(7)).sum()
    with pytest.raises(MemoryError):
        y.backward(retain_graph=True)
    assert x.grad is None
    y.backward()
    np.testing.assert_allclose(grad_of(x), 2 * X * noise**2)


def test_one_part_at_a_time_is_run_again() -> None:
    """And only parts that a gradient passes through."""
    runs: list[int] = []
    alive: list[int] = []
    hidden: list[Any] = []

    def part(i: int) -> Any:
        def f(x: Any) -> Any:
            runs.append(i)
            alive.append(sum(ref() is not None for ref in hidden))
            h = np.exp(x * 0.1)
            hidden.append(weakref.ref(h._array))
            return h * h

        return f

    x = leaf()
    y = x
    for i in range(4):
        y = checkpoint(part(i), y)
    aside = checkpoint(part(9), x)
    (y.sum() + aside.detach().sum()).backward()
    assert runs == [0, 1, 2, 3, 9, 3, 2, 1, 0]
    assert alive == [0] * 9


def test_what_the_function_closes_over() -> None:
    """A leaf, a computed tensor, and an outer transform's input get their gradients."""
    w, x = leaf(X[0]), leaf()
    doubled = w * 2
    checkpoint(lambda x: x * doubled * w, x).sum().backward()
    np.testing.assert_allclose(grad_of(w), 4 * X.sum(axis=0) * X[0])
    np.testing.assert_allclose(grad_of(x), np.broadcast_to(2 * X[0] ** 2, X.shape))
    got = mg.grad(lambda a: mg.grad(lambda b: checkpoint(lambda: a * a * b * b))(2.0))(3.0)
    assert got == 24.0


def test_transforms_of_checkpoints_and_inside_of_them() -> None:
    f = lambda x: np.tanh(x * x) * np.exp(x)
    recomputed = lambda x: checkpoint(f, x)
    row = X[0]
    np.testing.assert_array_equal(mg.jacobian(recomputed)(row), mg.jacobian(f)(row))
    np.testing.assert_array_equal(mg.hessian(lambda x: recomputed(x).sum())(row), mg.hessian(lambda x: f(x).sum())(row))
    np.testing.assert_array_equal(mg.jvp(recomputed, (row,), (row,))[1], mg.jvp(f, (row,), (row,))[1])
    inside = lambda x: checkpoint(lambda x: mg.elementwise_grad(f)(x) * x, x)
    mg.check_grads(inside, [row], order=2)
    mg.check_grads(recomputed, [row], order=3)


def test_a_backward_inside() -> None:
    """As in a penalty on the gradient, computed by hand."""

    def penalty(x: Any) -> Any:
        y = np.exp(x).sum()
        (g,) = mg.autograd_grad(y, x, create_graph=True)
        w = leaf(X[0])
        (w * w).sum().backward()
        return (g * g).sum() + np.sum(grad_of(w))

    x = leaf()
    checkpoint(penalty, x * 1.0).backward()
    np.testing.assert_allclose(grad_of(x), 2 * np.exp(2 * X))


def test_the_graph_can_be_retained() -> None:
    x = leaf()
    y = checkpoint(lambda x: np.exp(x) * x, x).sum()
    y.backward(retain_graph=True)
    first = grad_of(x).copy()
    y.backward()
    np.testing.assert_array_equal(grad_of(x), 2 * first)
    with pytest.raises(mg.GraphError, match="second time"):
        y.backward()


def test_autograd_grad_and_hooks_inside() -> None:
    seen: list[Any] = []
    middle: list[Any] = []

    def f(x: Any) -> Any:
        h = x * x
        h.register_hook(seen.append)
        h.register_hook(lambda g: g * 10)
        middle.append(h)
        return h * h

    x = leaf()
    y = checkpoint(f, x).sum()
    gh, gx = mg.autograd_grad(y, (middle[0], x))
    np.testing.assert_allclose(gh.data, 20 * X**2)
    np.testing.assert_allclose(gx.data, 40 * X**3)
    assert len(seen) == 1


def test_all_kinds_of_arguments() -> None:
    def f(p: Any, scale: Any, text: str, *, shift: Any) -> Any:
        assert text == "text"
        return {"out": [p["a"] * scale + shift["s"], None], "plain": 3}

    a, s = leaf(), leaf(X[0])
    out = checkpoint(f, {"a": a}, 2.0, "text", shift={"s": s})
    assert out["plain"] == 3 and out["out"][1] is None
    (out["out"][0] ** 2).sum().backward()
    np.testing.assert_allclose(grad_of(a), 4 * (2 * X + X[0]))
    np.testing.assert_allclose(grad_of(s), np.sum(2 * (2 * X + X[0]), axis=0))


def test_without_recording_it_is_just_the_function() -> None:
    runs: list[bool] = []

    def f(x: Any) -> Any:
        runs.append(True)
        return x * x

    with mg.no_grad():
        assert not checkpoint(f, leaf()).requires_grad
    np.testing.assert_array_equal(checkpoint(f, X), X * X)
    assert len(runs) == 2
    x = leaf()
    y = checkpoint(f, x).sum()
    with mg.no_grad():
        y.backward()
    np.testing.assert_array_equal(grad_of(x), 2 * X)


def test_a_no_grad_block_inside() -> None:
    def f(x: Any) -> Any:
        with mg.no_grad():
            scale = np.exp(x)
        return x * scale * x

    x = leaf()
    checkpoint(f, x).sum().backward()
    np.testing.assert_allclose(grad_of(x), 2 * X * np.exp(X))


def test_kernels_in_one_run_and_plain_rules_in_the_other() -> None:
    want = leaf()
    mg.softmax(np.tanh(want)).max(axis=0).sum().backward()
    for first, second in ((True, False), (False, True)):
        x = leaf()
        with mg.reference_mode() if first else mg.enable_grad():
            y = checkpoint(lambda x: mg.softmax(np.tanh(x)), x).max(axis=0).sum()
        with mg.reference_mode() if second else mg.enable_grad():
            y.backward()
        np.testing.assert_allclose(grad_of(x), grad_of(want))


def test_an_array_that_a_kernel_would_own_but_a_rule_does_not() -> None:
    same = mg.primitive(lambda x, /: x * 1, name="same").vjp(x=lambda g, x: g)
    same.kernel(np.ndarray, lambda x: (x * 1, None), lambda g, needs, x: (g.copy(),))
    x, g = leaf(), np.ones_like(X)
    doubled = x * 2
    y = doubled + checkpoint(same, x)
    with mg.reference_mode():
        y.backward(g)
    assert (g == 1).all() and (grad_of(x) == 3).all()


def test_a_function_class_inside() -> None:
    class Square(mg.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0]

    mg.check_grads(lambda x: checkpoint(lambda x: np.exp(Square.apply(Square.apply(x))), x), [X * 0.3], order=2)


# --- Randomness ---


def test_a_generator_among_the_arguments_is_replayed() -> None:
    def noisy(x: Any, rng: np.random.Generator) -> Any:
        return x * rng.standard_normal(x.shape)

    x, rng = leaf(), np.random.default_rng(7)
    y = checkpoint(noisy, checkpoint(noisy, x, rng), rng)
    after = rng.bit_generator.state
    y.sum().backward(retain_graph=True)
    assert rng.bit_generator.state == after
    fresh = np.random.default_rng(7)
    np.testing.assert_allclose(grad_of(x), fresh.standard_normal(X.shape) * fresh.standard_normal(X.shape))


def test_dropout_of_a_later_step_does_not_disturb() -> None:
    """Two forward passes before the first backward, as when gradients of several batches are accumulated."""
    net = Net()
    x = leaf(X.astype(np.float32))
    losses = [checkpoint(net, x).sum() for _ in range(3)]
    for loss in losses:
        loss.backward()
    assert net.dropout.step == 3
    got = grad_of(x)
    net.dropout.step = 0
    x.zero_grad()
    for loss in [net(x).sum() for _ in range(3)]:
        loss.backward()
    np.testing.assert_array_equal(got, grad_of(x))


# --- What did not repeat itself ---


def test_differences_between_the_runs_are_found() -> None:
    state: dict[str, Any] = {"n": 1, "w": leaf(X[0]), "rng": np.random.default_rng(0), "x": X.copy()}

    def more_operations(x: Any) -> Any:
        for _ in range(state["n"]):
            x = x * 2.0
        return x * x

    def another_operation(x: Any) -> Any:
        return (np.sin if state["n"] == 1 else np.exp)(x)

    def another_shape(x: Any) -> Any:
        return x * np.ones((state["n"], 1, 1))

    cases: list[tuple[Any, str]] = [
        (
            more_operations,
            r"operation 2 was multiply of .*, inputs tracked, tracked and is now .*, inputs tracked, constant",
        ),
        (another_operation, r"operation 1 was sin of shape \(4, 3\), float64, inputs tracked and is now exp"),
        (another_shape, r"operation 1 was multiply of shape \(1, 4, 3\)"),
        (lambda x: x * state["w"], "its results have other values"),
        (lambda x: np.exp(x + state["rng"].standard_normal(3)), "its results have other values"),
        (lambda x: x * state["x"], "its results have other values"),
    ]
    for f, message in cases:
        state["n"] = 1
        x = leaf()
        y = checkpoint(f, x)
        state["n"] = 2
        state["w"].data -= 0.01
        state["x"][0, 0] += 0.01
        with pytest.raises(mg.GraphError, match=f"did not repeat itself: .*{message}"):
            (y * 1.0).sum().backward()
        assert x.grad is None


def test_more_and_less_operations_are_named() -> None:
    count = [1]
    for before, after, message in (
        (1, 2, "operation 3 was missing and is now exp"),
        (2, 1, "3 was exp.* is now missing"),
    ):
        count[0] = before
        y = checkpoint(lambda x: sum(np.exp(x) for _ in range(count[0])), leaf())
        count[0] = after
        with pytest.raises(mg.GraphError, match=message):
            y.sum().backward()


def test_dropout_switched_off_in_between_is_found() -> None:
    net = Net()
    y = checkpoint(net, leaf(X.astype(np.float32)))
    net.eval()
    with pytest.raises(mg.GraphError, match="did not repeat itself"):
        y.sum().backward()


def test_more_random_numbers_than_before() -> None:
    dropout, count = nn.Dropout(0.5, rng=np.random.default_rng(0)), [1]

    def f(x: Any) -> Any:
        for _ in range(count[0]):
            x = dropout(x)
        return x

    y = checkpoint(f, leaf())
    count[0] = 2
    with pytest.raises(mg.GraphError, match="more random numbers"):
        y.sum().backward()
    assert dropout.step == 1


def test_results_that_are_not_finite_repeat_themselves() -> None:
    with np.errstate(all="ignore"):
        x = leaf(np.array([0.0, -1.0, 1.0]))
        checkpoint(lambda x: np.log(x) * np.array([1.0, np.nan, 2.0]), x).sum().backward()
    assert np.isinf(grad_of(x)[0]) and np.isnan(grad_of(x)[1]) and grad_of(x)[2] == 2


def test_an_error_inside_leaves_nothing_behind() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        checkpoint(f, leaf())
    x = leaf()
    checkpoint(lambda x: x * x, x).sum().backward()
    np.testing.assert_array_equal(grad_of(x), 2 * X)
    from minigrad.engine.observers import active, open_contexts

    assert active.contexts == [] and not open_contexts


# --- Around it ---


def test_on_a_device() -> None:
    x = leaf(fake_device.asarray(X))
    y = checkpoint(lambda x: np.exp(x) * x, x).sum()
    y.backward()
    np.testing.assert_allclose(grad_of(x).get(), np.exp(X) * (X + 1))


def test_inside_a_trace_and_detect_anomaly() -> None:
    with mg.trace():
        y = checkpoint(lambda x: np.exp(x) * x, leaf()).sum()
    y.backward()
    assert "exp" in mg.draw_dot(y).to_dot()
    with mg.detect_anomaly():
        x = leaf()
        checkpoint(lambda x: np.exp(x) * x, x).sum().backward()
        np.testing.assert_allclose(grad_of(x), np.exp(X) * (X + 1))
        y = checkpoint(lambda x: np.sqrt(x * x), leaf(np.zeros(3))).sum()
        with pytest.raises(mg.AnomalyError, match="derivative of 'sqrt'"):
            y.backward()


@pytest.mark.usefixtures("no_gc")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("create_graph", [False, True])
def test_graphs_die_by_reference_counting(create_graph: bool) -> None:
    x = leaf()
    y = checkpoint(lambda x: np.exp(x) * np.tanh(x), x * 1.0)
    refs = [weakref.ref(o) for o in (x, x._array, y, y._array)]
    y.sum().backward(create_graph=create_graph)
    if create_graph:
        assert x.grad is not None
        (x.grad * x.grad).sum().backward(create_graph=True)
    del x, y
    assert [ref() for ref in refs] == [None] * 4
    assert not any(type(o) is mg.Entry for o in gc.get_objects(generation=0))
