"""functional_call: a module as a function of its parameters, by every transform, and with nothing left behind in the module."""

import functools
import threading
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, DTypeError, GraphError, ShapeError, Tensor
from models import GPT, GPTConfig
from nn import functional_call, one_token
from tests.lazy import torch
from tests.nn.layers import assert_close, rng

X, Y = rng(2).standard_normal((5, 3)), rng(3).standard_normal((5, 2))
Pair = namedtuple("Pair", "first second")


def two_layers() -> Any:
    return nn.Sequential(
        nn.Affine(3, 4, rng=rng(), dtype=np.float64), np.tanh, nn.Affine(4, 2, rng=rng(1), dtype=np.float64)
    )


def other(model: nn.Module, seed: int = 7) -> Any:
    generator = rng(seed)
    return {path: generator.standard_normal(a.shape).astype(a.dtype) for path, a in model.state_dict().items()}


def run_with(model: Any, parameters: Any, *args: Any) -> Any:
    """What the model computes once it has loaded them: the oracle."""
    before = model.state_dict()
    model.load_state_dict(parameters)
    try:
        return model(*args).numpy().copy()
    finally:
        model.load_state_dict(before)


def squares(model: Any, parameters: Any, x: Any = X, y: Any = Y) -> Any:
    return ((functional_call(model, parameters, x) - y) ** 2).sum()


# --- Values ---


class Everywhere(nn.Module):
    """Parameters and modules in every place in which a module can hold them, and ways to them that are no such place."""

    def __init__(self) -> None:
        generator = rng()
        make = functools.partial(nn.Affine, 3, 3, rng=generator, dtype=np.float64)
        self.gain = nn.Parameter(generator.standard_normal(3))
        self.tied = self.gain
        self.pair = Pair(make(), [make()])
        self.table: dict[Any, Any] = {"a": make(), 2: (make(),)}
        inner = self.inner = make()
        inner.parent = self  # type: ignore[attr-defined]
        self.method: Any = self.scaled
        self.closure = lambda x: inner(x) * self.gain
        self.partial = functools.partial(self.scaled, by=self.gain)
        self.plain = [1.0, 2.0]

    def scaled(self, x: Any, by: Any = 2.0) -> Any:
        return x * self.gain * by

    def forward(self, x: Any) -> Any:
        x = self.pair.second[0](self.pair.first(x)) * self.tied
        x = self.table[2][0](self.table["a"](x))
        x = self.closure(self.partial(self.method(x)))
        return x + sum((p**2).sum() for p in self.parameters())


def test_it_computes_what_the_model_computes_once_it_has_loaded_the_parameters() -> None:
    model = Everywhere()
    parameters = other(model)
    assert len(parameters) == 11
    want = run_with(model, parameters, X)
    assert np.abs(want - model(X).numpy()).max() > 0.1
    assert_close(functional_call(model, parameters, X).numpy(), want)
    with mg.no_grad():
        assert_close(functional_call(model, parameters, X).numpy(), want)
    assert model.method.__self__ is model and model.inner.parent is model


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_gpt_with_tied_weights_by_every_parameter_is_as_by_backward(dropout: float) -> None:
    config = GPTConfig(vocab_size=5, window=6, d_model=4, num_heads=2, num_layers=2, dropout=dropout)
    model = GPT(config, rng=rng(), dtype=np.float64)
    ids = np.array([[1, 0, 4, 2]])
    first, second = (mg.grad(lambda p: (functional_call(model, p, ids) ** 2).mean())(model.state_dict()) for _ in "12")
    drops = [module for module in model.modules() if isinstance(module, nn.Dropout)]
    assert all(drop.step == (2 if dropout else 0) for drop in drops)
    differ = max(np.abs(first[path] - second[path]).max() for path in first) > 0
    assert differ == bool(dropout)  # as two calls of the model
    for drop in drops:
        drop.step = 0
    (model(ids) ** 2).mean().backward()
    for path, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert_close(first[path], parameter.grad.numpy(), path)


def test_train_and_eval_mode_count() -> None:
    model = nn.Sequential(nn.Affine(3, 50, rng=rng()), nn.Dropout(0.5, rng=rng()))
    parameters, x = model.state_dict(), X.astype(np.float32)
    assert (functional_call(model, parameters, x).numpy() == 0).any()
    assert not (functional_call(model.eval(), parameters, x).numpy() == 0).any()


def test_one_token_on_plain_arrays_reads_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    layer: Any = nn.TransformerEncoderLayer(6, 2, 8, rng=rng(), dtype=np.float64).eval()
    parameters, x = other(layer), rng(4).standard_normal((2, 1, 6))
    taken: list[Any] = []
    step = one_token.step

    def told(*given: Any) -> Any:
        taken.append(given)
        return step(*given)

    monkeypatch.setattr(one_token, "step", told)
    with mg.no_grad():
        got = functional_call(layer, parameters, x, cache=nn.KeyValueCache(), causal=True).numpy()
    assert taken
    assert_close(got, run_with(layer, parameters, x))


def test_a_method() -> None:
    model = Everywhere()
    parameters = other(model)
    assert_close(functional_call(model.scaled, parameters, X, by=3.0).numpy(), X * parameters["gain"] * 3.0)


def test_an_array_of_another_precision() -> None:
    layer = nn.Affine(3, 2, rng=rng())
    parameters = {path: array.astype(np.float64) for path, array in other(layer).items()}
    assert functional_call(layer, parameters, X).dtype == np.float64
    mg.check_grads(lambda p: functional_call(layer, p, X), [parameters])


# --- Transforms ---


def test_every_transform_agrees_with_torch() -> None:
    model = two_layers()
    parameters, along = model.state_dict(), other(model)
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    x, y = torch.tensor(X), torch.tensor(Y)
    names = {
        "layers.0.weight": "0.weight",
        "layers.0.bias": "0.bias",
        "layers.2.weight": "2.weight",
        "layers.2.bias": "2.bias",
    }

    def out(p: Any) -> Any:
        state = {name: p[path].T if p[path].ndim == 2 else p[path] for path, name in names.items()}
        return torch.func.functional_call(theirs, state, (x,))

    def torch_loss(p: Any) -> Any:
        return ((out(p) - y) ** 2).sum()

    p, v = ({path: torch.tensor(a) for path, a in tree.items()} for tree in (parameters, along))
    loss = functools.partial(squares, model)

    def same(got: Any, want: Any) -> None:
        assert got.keys() == want.keys()
        for path in want:
            if isinstance(want[path], dict):
                same(got[path], want[path])
            else:
                assert_close(got[path], want[path].numpy(), path)

    value, gradient = mg.value_and_grad(loss)(parameters)
    assert_close(value, torch_loss(p))
    same(gradient, torch.func.grad(torch_loss)(p))
    assert all(type(g) is np.ndarray for g in gradient.values())
    same(mg.vjp(lambda q: functional_call(model, q, X), parameters)[1](Y)[0], torch.func.vjp(out, p)[1](y)[0])
    jacobian = torch.func.jacrev(out)(p)
    moved = sum(torch.tensordot(jacobian[path], v[path], v[path].ndim) for path in v)
    assert_close(mg.jvp(lambda q: functional_call(model, q, X), [parameters], [along])[1], moved.numpy())
    same(mg.jacobian(lambda q: functional_call(model, q, X))(parameters), jacobian)
    same(mg.hessian(loss)(parameters), torch.func.jacrev(torch.func.grad(torch_loss))(p))
    slope = torch.func.grad(lambda q: sum((g * v[path]).sum() for path, g in torch.func.grad(torch_loss)(q).items()))
    same(mg.hvp(loss, [parameters], [along])[0], slope(p))
    nested = mg.grad(lambda q: sum((g**2).sum() for g in mg.grad(loss)(q).values()))(parameters)
    same(nested, torch.func.grad(lambda q: sum((g**2).sum() for g in torch.func.grad(torch_loss)(q).values()))(p))


def test_maml_through_three_steps_agrees_with_torch() -> None:
    """Finn et al. 2017: the gradient of the loss after three steps of SGD, by where they started and by the learning rate."""
    model = two_layers()
    parameters, (x1, y1), (x2, y2) = model.state_dict(), (X[:3], Y[:3]), (X[3:], Y[3:])

    def after_three(start: Any, lr: Any, gradient: Any, loss: Any) -> Any:
        p = start
        for _ in range(3):
            g = gradient(lambda q: loss(q, x1, y1))(p)
            p = {path: p[path] - lr * g[path] for path in p}
        return loss(p, x2, y2)

    def ours(p: Any, lr: Any) -> Any:
        return after_three(p, lr, mg.grad, functools.partial(squares, model))

    def torch_loss(p: Any, x: Any, y: Any) -> Any:
        hidden = torch.tanh(torch.tensor(x) @ p["layers.0.weight"] + p["layers.0.bias"])
        return ((hidden @ p["layers.2.weight"] + p["layers.2.bias"] - torch.tensor(y)) ** 2).sum()

    def theirs(p: Any, lr: Any) -> Any:
        return after_three(p, lr, torch.func.grad, torch_loss)

    got, by_lr = mg.grad(ours, (0, 1))(parameters, 0.05)
    want, want_by_lr = torch.func.grad(theirs, (0, 1))(
        {path: torch.tensor(a) for path, a in parameters.items()}, torch.tensor(0.05, dtype=torch.float64)
    )
    assert_close(by_lr, want_by_lr.numpy())
    for path in want:
        assert_close(got[path], want[path].numpy(), path)


def test_backward_arrives_at_the_tensors_that_were_given() -> None:
    model = two_layers()
    given = {path: Tensor(array, requires_grad=True) for path, array in other(model).items()}
    squares(model, given).backward()
    want = mg.grad(functools.partial(squares, model))({path: t.detach() for path, t in given.items()})
    for path, t in given.items():
        assert t.grad is not None
        assert_close(t.grad.numpy(), want[path].numpy(), path)
    assert all(p.grad is None for p in model.parameters())


def test_a_checkpoint_inside_runs_again_with_what_was_given() -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            self.inner = two_layers()

        def forward(self, x: Any) -> Any:
            return mg.checkpoint(self.inner, x)

    model = Checkpointed()
    parameters = other(model)
    got = mg.grad(functools.partial(squares, model))(parameters)
    want = mg.grad(functools.partial(squares, model.inner))(
        {p.removeprefix("inner."): a for p, a in parameters.items()}
    )
    for path, g in want.items():
        assert_close(got[f"inner.{path}"], g, path)


# --- What is left behind ---


def snapshot(model: nn.Module) -> Any:
    return [(p, p._array, p._node, p._grad) for p in model.parameters()], [dict(vars(m)) for m in model.modules()]


class Failing(nn.Module):
    def __init__(self, error: type[BaseException]) -> None:
        self.inner, self.error = nn.Affine(3, 2, rng=rng(), dtype=np.float64), error
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.inner(x)
        self.calls += 1
        raise self.error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_behind_by_an_error(error: type[BaseException]) -> None:
    model = Failing(error)
    model.inner(X).sum().backward()
    before = snapshot(model)
    with pytest.raises(error):
        functional_call(model, other(model), X)
    assert model.calls == 1  # as in any call
    model.calls = 0
    assert snapshot(model) == before


def test_gradients_and_an_optimizers_flat_buffers_stay() -> None:
    model = two_layers()
    optimizer = nn.Adam(model.parameters(), lr=0.1)
    twin, twins = two_layers(), None
    twins = nn.Adam(twin.parameters(), lr=0.1)
    for _ in range(3):
        for each, steps in ((model, optimizer), (twin, twins)):
            steps.zero_grad()
            ((each(X) - Y) ** 2).sum().backward()
        before = snapshot(model)
        mg.grad(functools.partial(squares, model))(other(model))
        assert snapshot(model) == before
        optimizer.step()
        twins.step()
    for path, array in model.state_dict().items():
        np.testing.assert_array_equal(array, twin.state_dict()[path])


def test_what_forward_assigns_stays_as_in_any_call() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            self.layers = [nn.Affine(3, 3, rng=rng(), dtype=np.float64)]
            self.seen: list[int] = []
            self.calls, self.gone = 0, 1

        def forward(self, x: Any) -> Any:
            self.calls += 1
            self.seen.append(len(x))
            self.latest, self.weights = self.layers[0], [self.layers[0].weight]
            self.gone_now = vars(self).pop("gone", None)
            return self.layers[0](x)

    model = Counting()
    paths = list(model.state_dict())
    functional_call(model, other(model), X)
    assert (model.calls, model.seen, model.gone_now) == (1, [5], 1) and not hasattr(model, "gone")
    assert model.latest is model.layers[0] and model.weights[0] is model.layers[0].weight
    assert list(model.state_dict()) == paths


def test_a_generator_goes_on_with_what_was_given() -> None:
    class Layers(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Affine(3, 2, rng=rng(), dtype=np.float64)

        def forward(self, x: Any) -> Any:
            yield self.inner(x)
            yield self.inner(x) * 2

    model = Layers()
    parameters, own = other(model), model.inner(X).numpy()
    first, second = functional_call(model, parameters, X), functional_call(model, model.state_dict(), X)
    want = X @ parameters["inner.weight"] + parameters["inner.bias"]
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        assert_close(a.numpy(), (i + 1) * want)
        assert_close(b.numpy(), (i + 1) * own)


def test_threads_that_call_one_model_each_have_their_own_parameters() -> None:
    meet = threading.Barrier(4)

    class Slow(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Affine(3, 2, rng=rng(), dtype=np.float64)

        def forward(self, x: Any) -> Any:
            x = self.inner(x) @ np.ones((2, 3))
            meet.wait(10)
            return self.inner(x)

    model = Slow()
    given = [other(model, seed) for seed in range(3)]
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        if i == 3:  # the model itself, meanwhile
            model(X).sum().backward()
        else:
            found[i] = mg.grad(functools.partial(squares, model))(given[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    meet.__init__(1)  # type: ignore[misc]
    for i in range(3):
        want = mg.grad(functools.partial(squares, model))(given[i])
        for path, g in want.items():
            np.testing.assert_array_equal(found[i][path], g)
    got = model.inner.weight.grad.numpy().copy()
    model.zero_grad()
    model(X).sum().backward()
    np.testing.assert_array_equal(got, model.inner.weight.grad.numpy())


def test_calls_nest() -> None:
    model = two_layers()
    one, two = other(model, 1), other(model, 2)

    class Outer(nn.Module):
        def __init__(self) -> None:
            self.inner = model

        def forward(self, x: Any) -> Any:
            return functional_call(self.inner, two, x) + self.inner(x)

    got = functional_call(Outer(), {f"inner.{path}": a for path, a in one.items()}, X).numpy()
    assert_close(got, run_with(model, one, X) + run_with(model, two, X))


# --- What is refused ---


def test_what_does_not_fit_is_refused_by_name() -> None:
    model = two_layers()
    fits = model.state_dict()
    less = {path: array for path, array in fits.items() if path != "layers.2.bias"}
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (model, less, ArgumentError, r"do not fit Sequential: missing: 'layers\.2\.bias'$"),
        (model, fits | {"extra": X}, ArgumentError, r"unexpected: 'extra'$"),
        (model, fits | {"layers.0.bias": X}, ShapeError, r"\['layers\.0\.bias'\] has shape \(5, 3\), .* \(4,\)"),
        (model, fits | {"layers.0.bias": np.ones(4, int)}, DTypeError, r"\['layers\.0\.bias'\] has dtype int64"),
        (model, fits | {"layers.0.bias": np.ones(4, complex)}, DTypeError, r"\['layers\.0\.bias'\] has dtype complex"),
        (model, fits | {"layers.0.bias": None}, DTypeError, r"\['layers\.0\.bias'\]: cannot make an array of numbers"),
        (model, list(fits.values()), ArgumentError, "a dict by path, as model.state_dict"),
        (np.tanh, fits, ArgumentError, "takes a Module or a method of one, got ufunc"),
    ]
    before = snapshot(model)
    for of, parameters, error, words in cases:
        with pytest.raises(error, match=words):
            functional_call(of, parameters, X)
    assert snapshot(model) == before


def test_a_parameter_that_forward_reaches_in_a_hidden_way_is_named() -> None:
    class Holder:
        def __init__(self, layer: Any) -> None:
            self.layer = layer

    class Hidden(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Affine(3, 2, rng=rng(), dtype=np.float64)
            self.holder = Holder(self.inner)

        def forward(self, x: Any) -> Any:
            return self.holder.layer(x) + self.inner(x)

    model = Hidden()
    with pytest.raises(GraphError, match=r"the model's own parameter 'inner\.(weight|bias)'"):
        functional_call(model, other(model), X)
    weight = Tensor(np.eye(3), requires_grad=True)
    assert functional_call(model.inner, model.inner.state_dict(), X @ weight).requires_grad


def test_a_models_own_parameter_may_be_an_argument_and_be_given() -> None:
    layer = nn.Affine(3, 3, rng=rng(), dtype=np.float64)
    functional_call(layer, dict(layer.named_parameters()), layer.weight).sum().backward()
    got = layer.weight.grad.numpy().copy()
    layer.zero_grad()
    layer(layer.weight).sum().backward()
    np.testing.assert_array_equal(got, layer.weight.grad.numpy())
