"""Every layer on a device as on the host, moving in the middle of training, and steps that never wait for the device."""

import copy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import nn
from minigrad import Tensor
from minigrad.device import is_device_array, to_device
from minigrad.errors import MixedDevicesError, OutOfMemoryError
from nn import Module
from nn._checks import beside
from nn.residual import Sequential
from tests import fake_cupy, fake_device
from tests.nn.layers import assert_close, gradient, randomized, rng

F64: Any = {"dtype": np.float64}
X = rng(2).standard_normal((2, 5, 4))  # (batch, length, d_model)
MEMORY = rng(3).standard_normal((2, 3, 4))
KEYS = np.array([[True] * 5, [True] * 3 + [False] * 2])
IDS = np.array([[3, 0, 3, 1, 5], [1, 1, 0, 4, 2]])


class Tied(Module):
    def __init__(self) -> None:
        self.embedding = nn.Embedding(6, 4, rng=rng(), **F64)
        self.output = nn.TiedOutput(self.embedding, bias=True)

    def forward(self, ids: Any) -> Tensor:
        return self.output(np.tanh(self.embedding(ids)))


class Scored(Module):
    """The first state and the last of a GRU or an RNN, whose result is a pair."""

    def __init__(self, kind: Any = nn.GRU, **form: bool) -> None:
        self.gru = kind(4, 3, rng=rng(), **form, **F64)

    def forward(self, x: Any, key_mask: Any) -> Any:
        states, last = self.gru(x, key_mask=key_mask)
        return states[:, 0] + last


class Cosine(Module):
    """A score has no weights: those of its queries."""

    def __init__(self) -> None:
        self.query = nn.Affine(4, 4, rng=rng(), **F64)
        self.attention = nn.GlobalAttention(nn.CosineScore())

    def forward(self, x: Any) -> Tensor:
        return self.attention(self.query(x))


class Remembered(Module):
    """The states of an LSTM, whose result is a pair of them and of another pair."""

    def __init__(self, reverse: bool) -> None:
        self.lstm = nn.LSTM(4, 3, rng=rng(), reverse=reverse, **F64)

    def forward(self, x: Any, key_mask: Any) -> Any:
        states, (h, c) = self.lstm(x, key_mask=key_mask)
        return states[:, 0] + h * c


class OneStep(Module):
    def __init__(self) -> None:
        self.cell = nn.LSTMCell(4, 3, rng=rng(), **F64)

    def forward(self, x: Any, h: Any) -> Any:
        h, c = self.cell(x, (h, h))
        return h + c


Case = tuple[Callable[[], Module], tuple[Any, ...], dict[str, Any]]
M: dict[str, Any] = {"key_mask": KEYS, "causal": True}


def of(kind: Any, *sizes: Any, inputs: tuple[Any, ...] = (X,), masks: Any = (), **settings: Any) -> Case:
    """A layer with weights of its own in double precision, and what it is called with."""
    return lambda: kind(*sizes, rng=rng(), **settings, **F64), inputs, dict(masks)


def behind(*layers: Any) -> Case:
    """Layers without weights, or without gradients of their inputs, behind a map that has them."""
    return lambda: Sequential(nn.Affine(4, 4, rng=rng(), **F64), *copy.deepcopy(layers)), (X,), {}


def images() -> Sequential:
    return Sequential(
        lambda x: x[:, None],
        nn.Conv2d(1, 3, 3, padding="same", rng=rng(), **F64),
        nn.MaxPool2d(3, stride=1, padding=1),
        nn.AvgPool2d(2),
        nn.Flatten(),
    )


def transposed() -> Sequential:
    convolution = nn.ConvTranspose2d(1, 3, 3, stride=2, padding=1, rng=rng(), **F64)
    return Sequential(lambda x: x[:, None], convolution, nn.GroupNorm(1, 3, **F64), nn.GlobalAvgPool())


def sequences() -> Sequential:
    convolution = nn.Conv1d(5, 4, 3, padding=2, rng=rng(), **F64)
    return Sequential(convolution, nn.BatchNorm(4, **F64), nn.MaxPool1d(2), nn.AvgPool1d(2, stride=1))


BOTH, MEMORY_KEYS = (X, MEMORY), {"key_mask": KEYS[:, 2:]}
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "swiglu")
GRAPH = np.eye(5) + np.eye(5, k=1)
LAYERS: dict[str, Case] = {
    "Affine": of(nn.Affine, 4, 3),
    "LoRA": (lambda: nn.LoRA(nn.Affine(4, 3, rng=rng(), **F64), 2, rng=rng()), (X,), {}),
    "Embedding and TiedOutput": (Tied, (IDS,), {}),
    "LayerNorm": (lambda: nn.LayerNorm(4, **F64), (X,), {}),
    "LayerNorm, epsilon outside": (lambda: nn.LayerNorm(4, eps_outside=True, **F64), (X,), {}),
    "RMSNorm": (lambda: nn.RMSNorm(4, **F64), (X,), {}),
    "Dropout": (lambda: Sequential(nn.Affine(4, 4, rng=rng(), **F64), nn.Dropout(0.4, rng=rng())), (X,), {}),
    "Residual": (lambda: nn.Residual(nn.Affine(4, 4, rng=rng(), **F64)), (X,), {}),
    **{f"FeedForward, {name}": of(nn.FeedForward, 4, 8, activation=name) for name in ACTIVATIONS},
    "PositionalEncoding": behind(nn.PositionalEncoding(4)),
    "LearnedPositions": of(nn.LearnedPositions, 8, 4, masks={"start": 2}),
    "RotaryPositions": behind(nn.RotaryPositions(4)),
    "positions from 2": behind(
        lambda x: nn.PositionalEncoding(4, scale=2.0)(x, start=2), lambda x: nn.RotaryPositions(4)(x, start=2)
    ),
    "AttentionHead": of(nn.AttentionHead, 4, 3, masks={**M, "mask": np.tri(5, dtype=bool).tolist()}),
    "MultiHeadAttention": of(nn.MultiHeadAttention, 4, 2, masks=M),
    "grouped": of(nn.MultiHeadAttention, 4, 2, num_kv_heads=1, inputs=BOTH),
    "rotary": of(nn.MultiHeadAttention, 4, 2, rotary=True, masks={"key_mask": KEYS.astype(int)}),
    "other widths": of(nn.MultiHeadAttention, 4, 2, key_dim=6, value_dim=3, masks=M),
    "rotary and grouped": of(nn.MultiHeadAttention, 4, 4, rotary=True, num_kv_heads=2, key_dim=8, masks=M),
    "PackedMultiHeadAttention": of(nn.PackedMultiHeadAttention, 4, 2, masks=M),
    "TransformerEncoderLayer": of(nn.TransformerEncoderLayer, 4, 2, 8, dropout=0.3, norm="post", masks=M),
    "TransformerDecoderLayer": of(
        nn.TransformerDecoderLayer,
        4,
        2,
        8,
        dropout=0.3,
        inputs=BOTH,
        masks={"key_mask": KEYS, "memory_key_mask": KEYS[:, 2:]},
    ),
    "GlobalAttention, CosineScore": (Cosine, (X,), {}),
    "DotProductAttention, DotScore": behind(
        nn.DotProductAttention(scale=True), lambda x: nn.DotProductAttention()(x, **M)
    ),
    "AdditiveAttention, AdditiveScore": of(nn.AdditiveAttention, 4, 4, 3, inputs=BOTH, masks=MEMORY_KEYS),
    "MultiplicativeAttention, GeneralScore": of(nn.MultiplicativeAttention, 4, 4, bias=True, masks=M),
    "Attention": of(nn.Attention, 4, 4, 3, score="additive", masks=M),
    "SelfAttention": of(nn.SelfAttention, 4, masks=M),
    "KeyValueAttention": of(nn.KeyValueAttention, 2, 2, masks=M),
    "ContextAttention": of(nn.ContextAttention, 4, 3, masks={"key_mask": KEYS}),
    "LocalAttention": behind(nn.LocalAttention(1), lambda x: nn.LocalAttention(1)(x, key_mask=KEYS)),
    "PredictiveLocalAttention": of(nn.PredictiveLocalAttention, 4, 2, masks={"key_mask": KEYS}),
    "MessagePassing": behind(lambda h: nn.MessagePassing()(h, GRAPH, **M)),
    "MessagePassing, a list": behind(lambda h: nn.MessagePassing()(h, GRAPH.tolist())),
    "MessagePassing, no graph": behind(lambda h: nn.MessagePassing()(h, **M)),
    "SimplifiedAttention": behind(nn.SimplifiedAttention()),
    "Conv2d, MaxPool2d, AvgPool2d, Flatten": (images, (X,), {}),
    "ConvTranspose2d, GlobalAvgPool, GroupNorm": (transposed, (X,), {}),
    "Conv1d, MaxPool1d, AvgPool1d, BatchNorm": (sequences, (X,), {}),
    "GRU": (Scored, (X, KEYS), {}),
    "reversed GRU": (lambda: Scored(reverse=True), (X, KEYS.astype(int)), {}),
    "RNN": (lambda: Scored(nn.RNN), (X, KEYS), {}),
    "LSTM": (lambda: Remembered(reverse=False), (X, KEYS), {}),
    "reversed LSTM": (lambda: Remembered(reverse=True), (X, KEYS.astype(int)), {}),
    "LSTMCell": (OneStep, (X[:, 0], X[:, 1, :3]), {}),
    "GRUCell": of(nn.GRUCell, 4, 3, inputs=(X[:, 0], X[:, 1, :3])),
}


def moved(arrays: Any, device: str) -> list[Any]:
    """Floating arrays where ``device`` is; ids and masks stay on the host, from where layers move them."""
    return [to_device(array, device) if array.dtype.kind == "f" else array for array in arrays]


def one_step(module: Module, inputs: Any, keywords: Any, loss: Any = None) -> list[np.ndarray]:
    """Forward, backward and a step of AdamW: the result, the gradients of inputs and weights, and the new weights."""
    optimizer = nn.AdamW(module.parameters(), lr=0.1, eps=0.1)  # else a gradient that is 0 up to rounding counts
    tensors = [Tensor(array, requires_grad=array.dtype.kind == "f") for array in inputs]
    y = module(*tensors, **keywords)
    (np.tanh(y).sum() if loss is None else loss(y)).backward()
    found = [tensor.grad for tensor in [*tensors, *module.parameters()] if tensor.grad is not None]
    gradients = [each.numpy().copy() for each in found]
    if isinstance(module, nn.Attention | nn.AttentionHead | nn.MultiHeadAttention):
        gradients.append(module.attention_weights(*tensors[:2], **keywords).numpy())
    optimizer.step()
    assert {type(each.data) for each in [*found, *module.parameters()]} == {type(y.data)}
    return [y.numpy(), *gradients, *module.state_dict().values()]


def check_as_on_the_host(make: Callable[[], Module], inputs: Any, keywords: Any, cuda: str, loss: Any = None) -> None:
    expected = one_step(randomized(make()), inputs, keywords, loss)
    module = randomized(make()).to(cuda)
    got = one_step(module, moved(inputs, cuda), keywords, loss)
    assert all(is_device_array(parameter.data) for parameter in module.parameters())
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
def test_a_layer_computes_and_learns_as_on_the_host(case: Case, cuda: str) -> None:
    make, inputs, keywords = case
    check_as_on_the_host(make, inputs, keywords, cuda)


def test_every_layer_is_in_the_list() -> None:
    seen: set[str] = set()
    for make, _, _ in LAYERS.values():
        seen |= {type(module).__name__ for module in make().modules()}
    layers = {
        name for name in nn.__all__ if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), Module)
    }
    assert layers - seen - {"Module", "MessagePassing"} == set()  # MessagePassing is made inside a function


LABELS = np.array([[0, 2, 1, 3, 1], [1, 1, 0, -100, 2]])
LOSSES: dict[str, Callable[[Any], Tensor]] = {
    "cross_entropy": lambda z: nn.cross_entropy(z, np.abs(LABELS) % 4),
    "ignored and smoothed": lambda z: nn.cross_entropy(z, LABELS, ignore_index=-100, label_smoothing=0.1),
    "smoothed probabilities": lambda z: nn.cross_entropy(z, np.full((2, 5, 4), 0.25), label_smoothing=0.1),
    "probabilities": lambda z: nn.cross_entropy(z, np.full((2, 5, 4), 0.25)),
    "negative_log_likelihood": lambda z: nn.negative_log_likelihood(minigrad.log_softmax(z), LABELS, ignore_index=-100),
    "mean_squared_error": lambda z: nn.mean_squared_error(z, X),
    "with logits": lambda z: nn.binary_cross_entropy_with_logits(z, X > 0),
    "weights": lambda z: nn.cross_entropy(z, np.abs(LABELS) % 4, weight=[0.5, 1.0, 2.0, 3.0]),
    "pos_weight": lambda z: nn.binary_cross_entropy_with_logits(z, X > 0, pos_weight=[0.5, 1.0, 2.0, 3.0]),
    "huber_loss": lambda z: nn.huber_loss(z, X),
    "kl_divergence": lambda z: nn.kl_divergence(minigrad.log_softmax(z), np.abs(X)),
    "cosine_loss": lambda z: nn.cosine_loss(z, X),
    "hinge_loss": lambda z: nn.hinge_loss(z, np.abs(LABELS) % 4),
    "binary_cross_entropy": lambda z: nn.binary_cross_entropy(minigrad.sigmoid(z), X > 0),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_loss_is_as_on_the_host(loss: Any, cuda: str) -> None:
    check_as_on_the_host(lambda: nn.Affine(4, 4, rng=rng(), **F64), (X,), {}, cuda, loss)


# --- moving ---


OPTIMIZERS: dict[str, Callable[[Any], nn.Optimizer]] = {
    "SGD": lambda p: nn.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "AdaGrad": lambda p: nn.AdaGrad(p, lr=0.1),
    "RMSProp": lambda p: nn.RMSProp(p, lr=0.01, momentum=0.5),
    "Adam": lambda p: nn.Adam(p, lr=0.1, weight_decay=0.01),
    "AdamW": lambda p: nn.AdamW(p, lr=0.1),
    "AMSGrad": lambda p: nn.Adam(p, lr=0.1, amsgrad=True),
    "Lion": lambda p: nn.Lion(p, lr=0.01, weight_decay=0.1),
}


def steps(module: Module, optimizer: nn.Optimizer, x: Any, count: int) -> None:
    for _ in range(count):
        optimizer.zero_grad()
        (np.tanh(module(x)) ** 2).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_what_an_optimizer_remembers_follows_a_model_that_moves(make: Any, cuda: str) -> None:
    stays, moves = (randomized(nn.FeedForward(4, 8, rng=rng(), **F64)) for _ in range(2))
    optimizers = make(stays.parameters()), make(moves.parameters())
    steps(stays, optimizers[0], X, 9)
    for device in ("cpu", cuda, "cpu"):
        moves.to(device)
        steps(moves, optimizers[1], to_device(X, device), 3)
        assert {is_device_array(p.data) for p in moves.parameters()} == {device == cuda}
    for ours, theirs in zip(moves.parameters(), stays.parameters(), strict=True):
        assert_close(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("there", [True, False], ids=["saved on the device", "loaded on the device"])
def test_the_states_of_one_device_load_on_the_other(make: Any, there: bool, cuda: str) -> None:
    first, second = ("cpu", cuda)[:: -1 if there else 1]
    module = randomized(nn.FeedForward(4, 8, rng=rng(), **F64)).to(first)
    optimizer = make(module.parameters())
    steps(module, optimizer, to_device(X, first), 2)
    other = nn.FeedForward(4, 8, rng=rng(7), **F64).to(second)
    other_optimizer = make(other.parameters())
    other.load_state_dict(module.state_dict())
    other_optimizer.load_state_dict(optimizer.state_dict())
    steps(module, optimizer, to_device(X, first), 2)
    steps(other, other_optimizer, to_device(X, second), 2)
    for ours, theirs in zip(other.parameters(), module.parameters(), strict=True):
        assert is_device_array(ours.data) != is_device_array(theirs.data)
        assert_close(ours.numpy(), theirs.numpy())


def test_gradients_move_with_their_parameters(cuda: str) -> None:
    module = nn.Affine(4, 3, rng=rng(), **F64)
    module(X).sum().backward()
    before = [p.grad.numpy().copy() for p in module.parameters() if p.grad is not None]
    module.to(cuda)
    for parameter, was in zip(module.parameters(), before, strict=True):
        assert parameter.grad is not None and is_device_array(parameter.grad.data)
        assert_close(parameter.grad.numpy(), was)
    held = module.weight.grad
    assert module.to(cuda).weight.grad is held  # nothing to move
    module(to_device(X, cuda)).sum().backward()
    module.to("cpu")
    assert_close(gradient(module.weight), 2 * before[0])


def test_a_model_that_does_not_fit_has_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    module = nn.FeedForward(4, 8, rng=rng())
    module(X).sum().backward()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(memory=200))
    words = r"in moving an array to 'cuda' \(shape \(4, 8\) float32\): Out of memory allocating 128 bytes.*128 B of"
    with pytest.raises(OutOfMemoryError, match=words):
        module.to("cuda")
    assert not any(is_device_array(a.data) for p in module.parameters() for a in (p, p.grad) if a is not None)


def net(cuda: str, seed: int = 0) -> Any:
    return Sequential(nn.Affine(4, 8, rng=rng(seed), **F64), np.tanh, nn.Affine(8, 2, rng=rng(seed), **F64)).to(cuda)


def class_loss(model: Module, batch: Any) -> Tensor:
    return nn.cross_entropy(model(batch[0]), batch[1])


def fitted(model: Any, device: str, epochs: int, folder: Path) -> nn.History:
    inputs = to_device(X.reshape(10, 4), device)
    data = nn.Batches([inputs, np.arange(10) % 2], 3, seed=4)
    optimizer = nn.AdamW(model.parameters(), lr=0.1)
    return nn.fit(
        model, data, class_loss, optimizer, epochs=epochs, clip_norm=0.5, progress=False, checkpoint=folder, resume=True
    )


def test_a_run_goes_on_on_the_other_device(cuda: str, tmp_path: Path) -> None:
    expected = fitted(net("cpu"), "cpu", 6, tmp_path / "whole")
    for epochs, device in [(2, "cpu"), (4, cuda), (6, "cpu")]:
        history = fitted(net(device, seed=epochs - 2), device, epochs, tmp_path / "moving")
    np.testing.assert_allclose(history.losses, expected.losses, rtol=1e-9)


# --- two places ---


def test_an_argument_on_a_device_and_a_model_on_the_host() -> None:
    with pytest.raises(
        MixedDevicesError, match=r"shape \(2, 5\) and dtype int64 is on fake:0, .* is on the host: move"
    ):
        nn.Embedding(6, 2, rng=rng())(fake_device.asarray(IDS))
    with pytest.raises(MixedDevicesError, match=r"\(2, 5\) and dtype bool is on fake:0"):
        nn.pool(X, fake_device.asarray(KEYS))


def test_arrays_of_two_gpus_are_not_beside_each_other() -> None:
    first = fake_device.asarray(IDS)
    with fake_device.FakeDevice(1):
        second = fake_device.asarray(IDS)
    assert beside(first, fake_device.asarray(X)) is first
    words = r"dtype int64 is on fake:1, .* is on fake:0: move .* minigrad\.device\.to_device\(argument, 'fake:0'\)"
    with pytest.raises(MixedDevicesError, match=words):
        beside(second, first)


def test_a_copy_of_a_model_is_where_the_model_is(cuda: str) -> None:
    model = net(cuda)
    twin = copy.deepcopy(model)
    assert all(is_device_array(p.data) for p in twin.parameters())
    twin.to("cpu")
    assert all(is_device_array(p.data) for p in model.parameters())
