"""Optimizers against PyTorch's over 50 steps, and resuming them."""

import copy
import math
import pickle

import numpy as np
import pytest

import nn.optim
from minigrad import (
    ArgumentError,
    DTypeError,
    GraphError,
    OutOfMemoryError,
    ShapeError,
    Tensor,
    compiled_kernels,
    reference_mode,
)
from minigrad.kernels.threads import num_threads, set_num_threads
from nn import SGD, AdaGrad, Adam, AdamW, Affine, Lion, Optimizer, Parameter, RMSProp
from tests.lazy import torch
from tests.nn.layers import assert_close, rng, to_torch

SHAPES = [(3, 4), (4,), (), (2, 1, 3)]


class PaperLion:
    """Algorithm 2 of Chen et al. 2023, line by line, on PyTorch's tensors: PyTorch itself has no Lion."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0) -> None:
        groups = params if isinstance(params[0], dict) else [{"params": params}]
        self.param_groups = [{"lr": lr, "betas": betas, "weight_decay": weight_decay} | group for group in groups]
        self.momenta = {id(theta): 0.0 for group in groups for theta in group["params"]}

    def step(self) -> None:
        for group in self.param_groups:
            (beta_1, beta_2), eta, decay = group["betas"], group["lr"], group["weight_decay"]
            for theta in group["params"]:
                if (g := theta.grad) is not None:
                    m = self.momenta[id(theta)]
                    c = beta_1 * m + (1 - beta_1) * g
                    theta.data = theta.data - eta * (torch.sign(c) + decay * theta.data)
                    self.momenta[id(theta)] = beta_2 * m + (1 - beta_2) * g


SETTINGS = [
    (SGD, torch.optim.SGD, {"lr": 0.1}),
    (SGD, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    (SGD, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    (SGD, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    (AdaGrad, torch.optim.Adagrad, {}),
    (AdaGrad, torch.optim.Adagrad, {"lr": 0.3, "eps": 0.01, "weight_decay": 0.1}),
    (RMSProp, torch.optim.RMSprop, {}),
    (RMSProp, torch.optim.RMSprop, {"lr": 0.03, "alpha": 0.8, "eps": 0.01, "momentum": 0.7, "weight_decay": 0.1}),
    (Adam, torch.optim.Adam, {}),
    (Adam, torch.optim.Adam, {"lr": 0.1, "betas": (0.8, 0.95), "eps": 0.01, "weight_decay": 0.1}),
    (AdamW, torch.optim.AdamW, {}),
    (AdamW, torch.optim.AdamW, {"lr": 0.1, "betas": (0.0, 0.5), "eps": 1e-6, "weight_decay": 0.3}),
    (Adam, torch.optim.Adam, {"lr": 0.1, "betas": (0.8, 0.7), "weight_decay": 0.1, "amsgrad": True}),
    (AdamW, torch.optim.AdamW, {"amsgrad": True}),
    (Lion, PaperLion, {}),
    (Lion, PaperLion, {"lr": 0.01, "betas": (0.5, 0.8), "weight_decay": 0.3}),
]
each_optimizer = pytest.mark.parametrize(("ours", "theirs", "settings"), SETTINGS)


def parameters(dtype=np.float64) -> list[Parameter]:
    generator = rng()
    return [Parameter(generator.standard_normal(shape), dtype=dtype) for shape in SHAPES]


def set_gradients(tensors, step: int) -> None:
    """Random gradients of different sizes; every parameter goes without one in some of the steps."""
    generator = rng(step)
    for i, tensor in enumerate(tensors):
        gradient = 10.0**i * generator.standard_normal(SHAPES[i])
        tensor.grad = None if step % 5 == i else gradient


def gradients(tensors) -> list[np.ndarray]:
    return [t.grad.numpy().copy() for t in tensors if t.grad is not None]


def run(optimizer, steps) -> None:
    for step in steps:
        set_gradients(optimizer.parameters, step)
        optimizer.step()


@pytest.mark.sampled(2)
@each_optimizer
def test_equals_pytorch_over_50_steps(ours, theirs, settings) -> None:
    tensors = parameters()
    torch_tensors = [to_torch(p.data, True) for p in tensors]
    optimizer, torch_optimizer = ours(tensors, **settings), theirs(torch_tensors, **settings)
    for step in range(50):
        if step == 25:
            optimizer.lr = torch_optimizer.param_groups[0]["lr"] = 0.03
        set_gradients(tensors, step)
        for p, torch_p in zip(tensors, torch_tensors, strict=True):
            torch_p.grad = None if p.grad is None else to_torch(p.grad.numpy())
        optimizer.step()
        torch_optimizer.step()
        for p, torch_p in zip(tensors, torch_tensors, strict=True):
            assert_close(p.numpy(), torch_p.detach().numpy())


def test_defaults_are_those_of_pytorch() -> None:
    for ours, theirs in {(ours, theirs) for ours, theirs, _ in SETTINGS if ours is not SGD}:
        group = theirs([torch.ones(1)]).param_groups[0]
        optimizer = ours(parameters())
        assert all(getattr(optimizer, name) == group[name] for name in optimizer.settings)


@each_optimizer
def test_float32_stays_float32_and_in_place(ours, theirs, settings) -> None:
    tensors = parameters(np.float32)
    arrays = [p.data for p in tensors]
    optimizer = ours(tensors, **settings)
    optimizer.lr = np.float64(0.1)  # what a schedule may compute
    assert type(optimizer.lr) is float
    run(optimizer, range(3))
    assert all(p.data is array and array.dtype == np.float32 for p, array in zip(tensors, arrays, strict=True))
    assert {a.dtype for state in optimizer.state for a in state.values() if hasattr(a, "dtype")} <= {np.dtype("f4")}


def test_without_a_gradient_nothing_happens_to_a_parameter_or_its_memory() -> None:
    used, unused = Parameter([1.0]), Parameter([1.0])
    optimizer = AdamW([used, unused], weight_decay=0.1)
    used.grad = np.ones(1)
    optimizer.step()
    assert unused.tolist() == [1.0] and optimizer.state[1] == {} and used.tolist() != [1.0]
    optimizer.zero_grad()
    before = used.tolist()
    optimizer.step()
    assert used.grad is None and used.tolist() == before and optimizer.state[0]["step"] == 1


@each_optimizer
def test_gradients_are_left_as_they_are(ours, theirs, settings) -> None:
    """Someone may still want to look at them, or take another step with the same ones."""
    optimizer = ours(parameters(), **settings)
    set_gradients(optimizer.parameters, 4)
    before = gradients(optimizer.parameters)
    optimizer.step()
    optimizer.step()
    for g, was in zip(gradients(optimizer.parameters), before, strict=True):
        np.testing.assert_array_equal(g, was)


def test_a_tied_parameter_is_changed_once() -> None:
    tied = Parameter([1.0])
    optimizer = SGD([tied, tied], lr=0.5)
    tied.grad = np.ones(1)
    optimizer.step()
    assert tied.tolist() == [0.5] and len(optimizer.parameters) == 1


def test_training_reaches_the_least_squares_solution() -> None:
    x, generator = rng(1).standard_normal((50, 3)), rng(2)
    target = x @ [[1.0], [-2.0], [3.0]] + 0.5
    for optimizer_of in (lambda p: SGD(p, 0.1, momentum=0.5), lambda p: Adam(p, 0.1), lambda p: AdaGrad(p, 1.0)):
        layer = Affine(3, 1, rng=generator, dtype=np.float64)
        optimizer = optimizer_of(layer.parameters())
        for _ in range(400):
            optimizer.zero_grad()
            ((layer(x) - target) ** 2).mean().backward()
            optimizer.step()
        assert layer.bias is not None
        np.testing.assert_allclose(np.append(layer.weight.data, layer.bias.data), [1, -2, 3, 0.5], atol=1e-6)


# --- state ---


@each_optimizer
def test_resumes_to_the_bit(ours, theirs, settings) -> None:
    whole, first = (ours(parameters(), **settings) for _ in range(2))
    run(whole, range(20))
    run(first, range(10))
    saved, weights = first.state_dict(), [p.numpy().copy() for p in first.parameters]
    run(first, [99])  # what was saved is a copy
    for _ in range(2):  # and so is what was loaded
        resumed = ours([Parameter(w) for w in weights], lr=123.0)
        resumed.load_state_dict(saved)
        run(resumed, range(10, 20))
        for p, q in zip(whole.parameters, resumed.parameters, strict=True):
            np.testing.assert_array_equal(p.numpy(), q.numpy())


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"]
)
def test_a_copy_of_module_and_optimizer_trains_alone(duplicate) -> None:
    layer = Affine(3, 1, rng=rng())
    optimizer = Adam(layer.parameters(), 0.1)
    other_layer, other = duplicate((layer, optimizer))
    before = layer.state_dict()
    other_layer(np.ones((2, 3))).sum().backward()
    other.step()
    assert not np.array_equal(other_layer.weight.data, before["weight"])
    np.testing.assert_array_equal(layer.weight.data, before["weight"])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.update(optimizer="SGD"), ArgumentError, "not a state of Adam: 'SGD'"),
        (lambda s: s.pop("settings"), ArgumentError, "not a state of Adam"),
        (lambda s: s["parameters"].pop(), ArgumentError, "for 3 parameters, and this Adam has 4"),
        (lambda s: s["parameters"][1].pop("m"), ArgumentError, r"parameter 1 has \['step', 'v'\]"),
        (
            lambda s: s["parameters"][3].update(v=np.ones(2)),
            ShapeError,
            r"'v' of parameter 3 has shape \(2,\), .*\(2, 1, 3\)",
        ),
        (
            lambda s: s["parameters"][1].update(m=np.ones(4, "f4")),
            DTypeError,
            "'m' of parameter 1 .* float32, .* float64",
        ),
        (lambda s: s["settings"].update(eps=-1), ArgumentError, "eps must be a number >= 0, got -1"),
        *(
            (lambda s, name=name: s["settings"].pop(name), ArgumentError, rf"the saved settings are .*, not .*'{name}'")
            for name in ("lr", "betas", "amsgrad", "overrides")
        ),
        (lambda s: s["settings"].update(alpha=1), ArgumentError, r"the saved settings are \['alpha', .*, not "),
    ],
    ids=["optimizer", "keys", "count", "slots", "shape", "dtype", "setting", *["no setting"] * 4, "another"],
)
def test_a_state_that_does_not_fit_says_so_and_changes_nothing(change, error, words) -> None:
    optimizer, other = Adam(parameters()), Adam(parameters(), 0.5)
    run(optimizer, range(6))
    run(other, range(9))
    before, state = optimizer.state_dict(), other.state_dict()
    change(state)
    with pytest.raises(error, match=words):
        optimizer.load_state_dict(state)
    after = optimizer.state_dict()
    assert after["settings"] == before["settings"]
    for was, now in zip(before["parameters"], after["parameters"], strict=True):
        assert was.keys() == now.keys() and all(np.array_equal(was[name], now[name]) for name in was)


def test_a_state_with_amsgrad_loads_where_there_was_none_and_back() -> None:
    plain, ams = Adam(parameters()), Adam(parameters(), amsgrad=True)
    run(plain, range(6))
    run(ams, range(6))
    states = plain.state_dict(), ams.state_dict()
    plain.load_state_dict(states[1])
    ams.load_state_dict(states[0])
    np.testing.assert_equal((ams.state_dict(), plain.state_dict()), states)
    run(plain, [6])
    run(ams, [6])
    assert "v_max" in plain.state[0] and "v_max" not in ams.state[0]


class RowNorms(Optimizer):
    """Divides each row by the mean of its norms, and the whole by a norm: no element is updated alone."""

    def __init__(self, parameters, lr=0.1) -> None:
        super().__init__(parameters, lr)

    def _start(self, p):
        return {"step": 0, "rows": np.zeros(p.shape[:-1], p.dtype)}

    def _update(self, p, g, state) -> None:
        rows = state["rows"]
        rows += np.linalg.norm(g, axis=-1)
        p -= self.lr * g / (rows[..., None] / state["step"] + np.linalg.norm(p))


def test_an_update_of_whole_arrays_has_a_state_of_its_own_shape() -> None:
    shapes = [(3, 4), (2, 5), (1, 2, 3), (300, 200)]

    def gradient_of(step, i, shape):
        return None if step % 4 == i else rng(10 * step + i).standard_normal(shape)

    def steps(optimizer, numbers) -> None:
        for step in numbers:
            for i, p in enumerate(optimizer.parameters):
                p.grad = gradient_of(step, i, p.shape)
            optimizer.step()

    tensors = [Parameter(rng(i).standard_normal(shape)) for i, shape in enumerate(shapes)]
    expected = one_by_one(RowNorms, {}, tensors, 6, gradient_of)
    optimizer = RowNorms(tensors)
    steps(optimizer, range(3))
    resumed = RowNorms([Parameter(p.numpy()) for p in tensors], lr=9.0)
    resumed.load_state_dict(optimizer.state_dict())
    for one in (optimizer, resumed):
        steps(one, range(3, 6))
        for p, whole in zip(one.parameters, expected, strict=True):
            np.testing.assert_array_equal(p.numpy(), whole)
    saved = optimizer.state_dict()
    saved["parameters"][1]["rows"] = np.ones(3)
    with pytest.raises(ShapeError, match=r"'rows' of parameter 1 has shape \(3,\), but the parameter needs \(2,\)"):
        resumed.load_state_dict(saved)


class Remembers(Optimizer):
    """Replaces arrays of its state, one of the parameter's shape, one number, and one of another shape."""

    def __init__(self, parameters, lr=0.1) -> None:
        super().__init__(parameters, lr)

    def _start(self, p):
        return {"step": 0, "m": np.zeros_like(p), "least": np.full((), np.inf), "last": np.zeros(3)}

    def _update(self, p, g, state) -> None:
        state["m"] = 0.5 * state["m"]
        state["m"] += g
        p -= self.lr * state["m"]
        if not self.elementwise:
            state["least"] = np.minimum(state["least"], np.abs(g).min())
            state["last"] = np.roll(state["last"], 1)
            state["last"][0] += state["step"]


class RemembersEach(Remembers):
    elementwise = True

    def _start(self, p):
        return {"m": np.zeros_like(p)}


@pytest.mark.parametrize("kind", [Remembers, RemembersEach])
def test_a_state_may_be_assigned(kind) -> None:
    """For parameters without axes, several that are joined, and one in blocks."""
    optimizer = kind([Parameter(np.full(shape, 1.0)) for shape in [(), (2, 3), 200_000]])
    for step in range(4):
        for p in optimizer.parameters:
            p.grad = np.full(p.shape, 2.0**-step)
        optimizer.step()
    for p, state in zip(optimizer.parameters, optimizer.state):
        np.testing.assert_array_equal(state["m"], np.full(p.shape, 4 * 2.0**-3))
        np.testing.assert_allclose(p.numpy(), 1 - 0.1 * (1 + 1 + 3 / 4 + 1 / 2), rtol=1e-12)
        if kind is Remembers:
            assert (state["least"].shape, state["least"], *state["last"]) == ((), 2.0**-3, 5, 3, 2)


@pytest.mark.parametrize("value", [0.25, np.float32(0.25), None])
def test_a_state_is_of_arrays(value) -> None:
    p = Parameter(np.ones(()))
    p.grad = np.ones(())
    for start, error, words in (
        (lambda self, p: {"step": 0, "rms": value}, ArgumentError, r"_start returns .* for 'rms': make it an array"),
        (lambda self, p: {"m": np.zeros(3)}, ShapeError, r"'m' of its state has shape \(3,\) for a parameter of \(\)"),
    ):
        optimizer = type("Odd", (RemembersEach,), {"_start": start})([p])
        with pytest.raises(error, match=words):
            optimizer.step()
        assert optimizer.state == [{}] and p.item() == 1


# --- settings ---


def test_the_settings_are_the_arguments() -> None:
    class Slower(RowNorms):
        def __init__(self, parameters, lr=0.1, *, k=0.5, **options) -> None:
            super().__init__(parameters, lr, **options)
            self.k = k

    class Passes(type("Mixed", (), {}), Slower):  # type: ignore[misc]
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)

    class Forgets(RowNorms):
        def __init__(self, parameters, lr=0.1, *, rate=0.5) -> None:
            super().__init__(parameters, lr)

    tensors = [Parameter(np.ones((2, 2)))]
    tensors[0].grad = np.ones((2, 2))
    for kind in (Slower, Passes):
        resumed = kind(tensors)
        resumed.load_state_dict(kind(tensors, 0.3, k=0.25).state_dict())
        assert repr(resumed) == f"{kind.__name__}(lr=0.3, k=0.25; 1 tensors)"
    with pytest.raises(ArgumentError, match=r"Forgets takes 'rate' and .*: write self.rate = rate in its __init__"):
        Forgets(tensors).step()
    np.testing.assert_array_equal(tensors[0].numpy(), 1)
    with pytest.raises(ArgumentError, match=r"Fixed.__init__ must take lr"):
        type("Fixed", (Optimizer,), {"__init__": lambda self, parameters: None})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: SGD(p, -0.1), "lr must be a number >= 0, got -0.1"),
        (lambda p: SGD(p, math.nan), "lr must be a number >= 0, got nan"),
        (lambda p: SGD(p, math.inf), "lr must be a number >= 0, got inf"),
        (lambda p: SGD(p, momentum=1.0), r"momentum must be in \[0, 1\), got 1.0"),
        (lambda p: SGD(p, nesterov=True), "nesterov=True needs a momentum above 0, got 0.0"),
        (lambda p: SGD(p, weight_decay=-1), "weight_decay must be a number >= 0, got -1"),
        (lambda p: Adam(p, betas=(0.9, 1.0)), r"betas\[1\] must be in \[0, 1\), got 1.0"),
        (lambda p: Adam(p, betas=(-0.1, 0.9)), r"betas\[0\] must be in"),
        (lambda p: Adam(p, eps=-1e-8), "eps must be a number >= 0"),
        (lambda p: Lion(p, betas=(0.9, 1.0)), r"betas\[1\] must be in \[0, 1\), got 1.0"),
        (lambda p: AdaGrad(p, eps=-1.0), "eps must be a number >= 0"),
        (lambda p: RMSProp(p, alpha=1.0), r"alpha must be in \[0, 1\), got 1.0"),
        (lambda p: RMSProp(p, momentum=-0.1), r"momentum must be in \[0, 1\), got -0.1"),
        (lambda p: setattr(Adam(p), "lr", math.nan), "lr must be a number >= 0"),
    ],
)
def test_bad_settings(make, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        make(parameters())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "Adam got no parameters"),
        (Affine(2, 2, rng=rng()), r"got a Affine for parameters: pass module.parameters\(\)"),
        (Affine(2, 2, rng=rng()).named_parameters(), "must be tensors, got tuple at index 0"),
        ([np.ones(2)], "must be tensors, got ndarray"),
    ],
)
def test_what_is_no_list_of_tensors(given, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        Adam(given)


def test_a_computed_tensor_cannot_be_optimized() -> None:
    with pytest.raises(GraphError, match="was computed"):
        SGD([Parameter([1.0]) * 2])


def test_one_tensor_is_a_parameter_and_not_a_list_of_its_rows() -> None:
    tensor = Parameter([1.0, 2.0])
    assert SGD(tensor).parameters == [tensor]


def test_repr() -> None:
    assert repr(Adam(parameters())) == "Adam(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.0; 4 tensors)"


def test_tensors_that_are_no_parameters_train_too() -> None:
    x = Tensor([4.0], requires_grad=True)
    optimizer = SGD([x], lr=0.25)
    for _ in range(30):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
    assert abs(x.item()) < 1e-6


@each_optimizer
def test_on_a_device_as_on_the_host(ours, theirs, settings, put) -> None:
    results = []
    for move in (np.asarray, put):
        tensors = parameters()
        for p in tensors:
            p.data = move(p.data)
        optimizer = ours(tensors, **settings)
        for step in range(4):
            set_gradients(tensors, step)
            for p in tensors:
                p.grad = None if p.grad is None else Tensor(move(p.grad.numpy()))
            optimizer.step()
        assert all(type(p.data) is type(move(np.ones(1))) for p in tensors)
        results.append([p.numpy() for p in tensors])
    for got, expected in zip(*results, strict=True):
        assert_close(got, expected)


# --- many small arrays as one, and large ones in blocks ---


def one_by_one(ours, settings, tensors, steps, gradient_of) -> list[np.ndarray]:
    """What an optimizer of its own for each parameter makes of them."""
    copies = [Parameter(p.numpy().copy()) for p in tensors]
    optimizers = [ours([p], **settings) for p in copies]
    for step in range(steps):
        for i, (p, optimizer) in enumerate(zip(copies, optimizers)):
            p.grad = gradient_of(step, i, p.shape)
            optimizer.step()
    return [p.numpy() for p in copies]


@pytest.mark.sampled(2)
@each_optimizer
@pytest.mark.parametrize("threads", [1, 2])
def test_together_and_in_blocks_as_one_by_one(ours, theirs, settings, threads) -> None:
    """To the bit: sizes below, at and above what is updated apart, one of them laid out by columns."""
    generator = rng()
    shapes = [(3, 5), (1 << 15,), (1 << 15, 3), (7,), (200, 200), ()]
    tensors = [Parameter(generator.standard_normal(shape), dtype=np.float32) for shape in shapes]
    tensors[4].data = np.asfortranarray(tensors[4].numpy())

    def gradient_of(step, i, shape):
        return None if step == i < 3 else np.random.default_rng(10 * step + i).standard_normal(shape).astype("f4")

    expected = one_by_one(ours, settings, tensors, 7, gradient_of)
    optimizer = ours(tensors, **settings)
    before = num_threads()
    set_num_threads(threads)
    try:
        for step in range(7):
            for i, p in enumerate(tensors):
                p.grad = gradient_of(step, i, p.shape)
            optimizer.step()
    finally:
        set_num_threads(before)
    for p, q in zip(tensors, expected, strict=True):
        np.testing.assert_array_equal(p.numpy(), q)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_made_in_the_middle_and_a_loaded_state_go_on_alone(duplicate) -> None:
    optimizer = Adam(parameters(), 0.1)
    run(optimizer, [4, 9])  # steps in which every parameter has a gradient
    copied = duplicate(optimizer)
    loaded = Adam([Parameter(p.numpy()) for p in optimizer.parameters])
    run(loaded, [4])  # arrays of its own, that the state to load takes the place of
    loaded.load_state_dict(optimizer.state_dict())
    for p, q in zip(loaded.parameters, optimizer.parameters):
        p.data[...] = q.numpy()
    state = optimizer.state_dict()
    for other in (copied, loaded):
        run(other, [14, 19])
    np.testing.assert_equal(optimizer.state_dict(), state)
    run(optimizer, [14, 19])
    for other in (copied, loaded):
        np.testing.assert_equal(other.state_dict(), optimizer.state_dict())
        for p, q in zip(other.parameters, optimizer.parameters):
            np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_a_change_of_parameters_that_a_graph_has_kept_is_noticed() -> None:
    """Small ones are written to all at once."""
    x, y = Parameter([1.0, 2.0]), Parameter([3.0, 4.0])
    loss = (x * y).sum()
    x.grad, y.grad = np.ones(2), np.ones(2)
    SGD([x, y], lr=0.1).step()
    with pytest.raises(GraphError, match="changed in place"):
        loss.backward()


def test_a_parameter_that_is_replaced_is_the_one_that_changes() -> None:
    tensors = parameters()
    optimizer = Adam(tensors, 0.1)
    run(optimizer, [4])
    old = tensors[0].data
    tensors[0].data = np.zeros((3, 4))
    kept = old.copy()
    run(optimizer, [9])
    assert tensors[0].data.any()
    np.testing.assert_array_equal(old, kept)


def test_a_step_for_which_there_is_no_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither weights nor the count of steps: the next try is as good as the first."""
    tensors, twins = parameters(), parameters()
    optimizer, twin = Adam(tensors, 0.1), Adam(twins, 0.1)
    made = iter(range(100))

    def zeros(shape, like):
        if next(made) == 3:
            raise MemoryError("no")
        return np.zeros(shape, like.dtype)

    set_gradients(tensors, 4)
    with monkeypatch.context() as patch:
        patch.setattr(nn.optim, "zeros", zeros)
        with pytest.raises(OutOfMemoryError, match=r"out of memory in the state of Adam \(shape \(4,\) float64\)"):
            optimizer.step()
    for p, q in zip(tensors, twins, strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
    run(optimizer, [4, 9])
    run(twin, [4, 9])
    np.testing.assert_equal(optimizer.state_dict(), twin.state_dict())


def test_momentum_may_be_switched_off_and_on() -> None:
    tensors = parameters()
    optimizer = SGD(tensors, 0.1, momentum=0.9)
    run(optimizer, [0, 4])  # the first parameter has a memory of one step less
    optimizer.momentum = 0.0
    loaded = SGD(parameters())
    loaded.load_state_dict(optimizer.state_dict())
    assert loaded.momentum == 0 and not any(loaded.state)
    before = [p.numpy().copy() for p in tensors]
    run(optimizer, [9])
    assert not any(optimizer.state)
    for p, was in zip(tensors, before, strict=True):
        assert p.grad is not None
        np.testing.assert_array_equal(p.numpy(), was - 0.1 * p.grad.numpy())
    optimizer.momentum = 0.9
    run(optimizer, [14])


def test_reference_mode_knows_no_compiled_step(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = Adam(parameters(np.float32))
    compiled_kernels()
    try:
        monkeypatch.setattr("minigrad.kernels.compiled.adam.adam_step", lambda *arguments: 1 / 0)
        with reference_mode():
            run(optimizer, [4])
        with pytest.raises(ZeroDivisionError):
            run(optimizer, [9])
    finally:
        compiled_kernels(False)


def test_amsgrad_is_the_same_with_the_compiled_kernels() -> None:
    plain, compiled = (Adam(parameters(), 0.1, betas=(0.8, 0.7), amsgrad=True) for _ in range(2))
    run(plain, range(9))
    compiled_kernels()
    try:
        run(compiled, range(9))
    finally:
        compiled_kernels(False)
    for p, q in zip(plain.parameters, compiled.parameters, strict=True):
        np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_a_parameter_may_be_replaced_by_one_of_another_shape_or_dtype() -> None:
    w = Tensor(np.ones(3, np.float32), requires_grad=True)
    optimizer = SGD([w], lr=0.1)
    for shape in ((3,), (5,), (5, 1)):
        w.data = np.ones(shape, np.float32)
        w.grad = np.ones(shape)
        optimizer.step()
        np.testing.assert_allclose(w.numpy(), np.full(shape, 0.9), rtol=1e-6)
    w.data = np.full(3, 1 / 3)
    w.grad = np.full(3, 1e-9)
    optimizer.step()
    assert w.dtype == np.float64 and w.tolist() == [1 / 3 - 0.1 * 1e-9] * 3


def test_what_is_remembered_must_fit_the_parameter() -> None:
    tensors = parameters()
    optimizer = Adam(tensors)
    run(optimizer, [4])
    before = optimizer.state_dict()
    tensors[0].data = np.ones((4, 3))
    for p in tensors:
        p.grad = np.ones(p.shape)
    with pytest.raises(
        ShapeError, match=r"parameter 0 of Adam now has shape \(4, 3\), .* \(3, 4\): make a new optimizer"
    ):
        optimizer.step()
    np.testing.assert_equal(optimizer.state_dict(), before)


def test_parameters_that_share_memory_lose_no_update() -> None:
    a = Tensor(np.ones(4), requires_grad=True)
    b = Tensor(a.data, requires_grad=True, copy=False)
    optimizer = SGD([a, b], lr=0.1)
    a.grad, b.grad = np.ones(4), np.full(4, 2.0)
    optimizer.step()
    np.testing.assert_allclose(a.numpy(), np.full(4, 0.7))


def test_a_state_that_is_replaced_counts() -> None:
    optimizer, expected = Adam([Parameter([1.0])], 0.1), Adam([Parameter([1.0])], 0.1)
    for one in (optimizer, expected):
        one.parameters[0].grad = np.ones(1)
        one.step()
    optimizer.state = [dict(state) for state in optimizer.state]
    for _ in range(5):
        optimizer.step()
        expected.step()
    assert optimizer.parameters[0].tolist() == expected.parameters[0].tolist()
    optimizer.state[0]["v"] = np.full(1, 1e6)
    before = optimizer.parameters[0].item()
    optimizer.step()
    assert abs(optimizer.parameters[0].item() - before) < 1e-3


def test_a_loaded_state_may_lie_in_any_order() -> None:
    p = Parameter(np.ones((200, 300)))
    optimizer = Adam([p], 0.1)
    p.grad = np.ones((200, 300))
    optimizer.step()
    saved = optimizer.state_dict()
    for name in "mv":
        saved["parameters"][0][name] = np.asfortranarray(saved["parameters"][0][name])
    optimizer.load_state_dict(saved)
    optimizer.step()
    assert np.abs(optimizer.state_dict()["parameters"][0]["m"] - saved["parameters"][0]["m"]).min() > 0.01


@pytest.mark.parametrize("size", [3, (1 << 15) + 1])
def test_momentum_may_be_switched_on_later(size) -> None:
    p, twin = Parameter(np.ones(size)), Parameter(np.ones(size))
    optimizer = SGD([p], 0.1)
    for parameter, momenta in ((p, (0.0, 0.9, 0.9)), (twin, (0.0,))):
        for momentum in momenta:
            parameter.grad = np.ones(size)
            optimizer = optimizer if parameter is p else SGD([twin], 0.1)
            optimizer.momentum = momentum
            optimizer.step()
    np.testing.assert_allclose(p.numpy(), twin.numpy() - 0.1 - 0.19, rtol=1e-12)


def test_counts_that_were_changed_by_hand_part_a_group() -> None:
    tensors = [Parameter(np.ones(3)), Parameter(np.ones(3))]
    for p in tensors:
        p.grad = Tensor(np.ones(3))
    optimizer = Adam(tensors, 0.1)
    optimizer.step()
    optimizer.state[0]["step"] = 10
    optimizer.step()
    division = optimizer._division
    assert division is not None and [state["step"] for state in optimizer.state] == [11, 2]
    assert [list(group.members) for group in division.together] == [[0], [1]]


def test_numbers_without_axes_that_share_memory() -> None:
    memory = np.ones(4)
    tensors = [Parameter(np.ones(()), name="alone"), *(Parameter(np.ones(3)) for _ in range(2))]
    for p, array in zip(tensors[1:], (memory[:3], memory[1:])):
        p.data = array
    for p in tensors:
        p.grad = np.ones(p.shape)
    Adam(tensors, 0.1).step()
    assert tensors[0].item() == pytest.approx(0.9)
    np.testing.assert_allclose(memory, [0.9, 0.8, 0.8, 0.9])


def test_a_frozen_parameter_is_left_alone_though_it_has_a_gradient() -> None:
    tensors = parameters()
    set_gradients(tensors, 4)
    frozen = tensors[1].numpy().copy()
    tensors[1].requires_grad = False
    optimizer = Adam(tensors, 0.1)
    optimizer.step()
    np.testing.assert_array_equal(tensors[1].numpy(), frozen)
    assert not optimizer.state[1] and optimizer.state[0]["step"] == 1


@each_optimizer
def test_a_step_of_float16_is_that_of_float32_rounded_once(ours, theirs, settings) -> None:
    """In float16, eps and the squares of small gradients are 0: 0 / 0 and 1 / 0. Alone, together, and after a resumption."""
    scales = np.array([0, 1e-7, 1e-5, 1e-3, 1, 300], np.float16)
    starts = [rng(0).normal(size=(n, 6)).astype(np.float16) for n in (2, 3, 6000)]  # the last is too large for a group
    halves = [Parameter(start, dtype=np.float16) for start in starts]
    floats = [Parameter(start, dtype=np.float32) for start in starts]
    optimizers = ours(halves, **settings), ours(floats, **settings)
    for step in range(4):
        for half, whole in zip(halves, floats):
            g = (rng(step).normal(size=half.shape) * scales).astype(np.float16)
            half.grad, whole.grad = g, g.astype(np.float32)
            whole.data = half.numpy().astype(np.float32)
        for optimizer in optimizers:
            optimizer.step()
        for half, whole in zip(halves, floats):
            assert half.dtype == np.float16 and np.isfinite(half.numpy()).all()
            np.testing.assert_array_equal(half.numpy(), whole.numpy().astype(np.float16))
        resumed = ours(halves, **settings)
        resumed.load_state_dict(optimizers[0].state_dict())
        optimizers = resumed, optimizers[1]


def test_a_state_of_float16_is_in_float32_and_no_other_is_loaded() -> None:
    p = Parameter(np.ones(3), dtype=np.float16)
    p.grad = np.full(3, 0.5)
    optimizer = Adam([p])
    optimizer.step()
    saved = optimizer.state_dict()
    assert {saved["parameters"][0][name].dtype for name in ("m", "v")} == {np.dtype(np.float32)}
    saved["parameters"][0]["m"] = saved["parameters"][0]["m"].astype(np.float16)
    with pytest.raises(DTypeError, match="has dtype float16, but the state of a float16 parameter has float32"):
        optimizer.load_state_dict(saved)


def test_eps_counts_in_float16_from_the_first_step() -> None:
    p = Parameter(np.ones(3), dtype=np.float16)
    p.grad = np.zeros(3)
    Adam([p], 0.1, eps=5e-7).step()
    np.testing.assert_array_equal(p.numpy(), 1)
