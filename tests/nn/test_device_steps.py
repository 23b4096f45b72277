"""On a device: steps that never wait, wrong ids that are found later, and clipping by a norm nobody waits for."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, OutOfRangeError, Tensor
from minigrad.device import to_device
from nn import Module
from nn.residual import Sequential
from tests import fake_device
from tests.nn.layers import assert_close, rng

X = rng(2).standard_normal((10, 4))
KEYS = np.array([[True] * 5, [True] * 3 + [False] * 2])
IDS = np.array([[3, 0, 3, 1, 5], [1, 1, 0, 4, 2]])


def net(device: str) -> Any:
    layers = [nn.Affine(*sizes, rng=rng(), dtype=np.float64) for sizes in ((4, 8), (8, 2))]
    return Sequential(layers[0], np.tanh, layers[1]).to(device)


def loss(model: Module, batch: Any) -> Tensor:
    return nn.cross_entropy(model(batch[0]), batch[1])


# --- where a step waits ---


class Losses(Module):
    """A model with each way of giving ids, labels and masks, on the device or the host."""

    def __init__(self) -> None:
        self.embedding = nn.Embedding(6, 4, rng=rng())
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, rng=rng(), dropout=0.2)
        self.output = nn.TiedOutput(self.embedding)

    def forward(self, ids: Any, key_mask: Any) -> Tensor:
        return self.output(self.layer(self.embedding(ids), key_mask=key_mask, causal=True))


@pytest.mark.parametrize("place", ["host", "device"])
@pytest.mark.parametrize("mask", [KEYS, KEYS.astype(int)], ids=["booleans", "integers"])
def test_the_backward_pass_and_the_update_do_not_wait_for_the_device(place: str, mask: np.ndarray) -> None:
    model: Any = Losses()
    for parameter in model.parameters():
        parameter.data = fake_device.asarray(parameter.data)
    put = fake_device.asarray if place == "device" else np.asarray
    ids, labels, key_mask = put(IDS), put(np.where(KEYS, np.roll(IDS, 1), -1)), put(mask)
    optimizer, schedule = nn.Adam(model.parameters()), nn.cosine_schedule(1e-3, 10)
    losses = []
    for step in range(3):
        logits = model(ids, key_mask)
        loss = nn.cross_entropy(logits, labels, ignore_index=-1, label_smoothing=0.1)
        loss = loss + nn.binary_cross_entropy_with_logits(logits[..., 0], key_mask)
        with fake_device.no_waiting():
            optimizer.zero_grad()
            loss.backward()
            nn.clip_grad_value(model.parameters(), 0.05)
            optimizer.lr = schedule(step)
            optimizer.step()
        losses.append(loss.data)
    assert losses[2].item() < losses[0].item()


# --- ids, labels and masks that are wrong ---


def table() -> Any:
    """An Embedding on the fake device."""
    embedding = nn.Embedding(6, 2, rng=rng())
    embedding.weight.data = fake_device.asarray(embedding.weight.data)
    return embedding


LOGITS = np.zeros((3, 4))


def of(loss: Any, scores: np.ndarray = LOGITS, **settings: Any) -> Any:
    """The loss of scores on the fake device, as a function of the labels."""
    return lambda labels: loss(fake_device.asarray(scores), labels, **settings)


def pooled(mask: Any) -> Any:
    return nn.pool(fake_device.asarray(LOGITS[None]), mask[None])


@pytest.mark.parametrize(
    ("call", "bad", "error", "words"),
    [
        (lambda ids: table()(ids), [0, 6, 1], OutOfRangeError, "Embedding got the id 6, but its vocabulary has 6 ids"),
        (lambda ids: table()(ids), [0, -2, 1], OutOfRangeError, "Embedding got the id -2"),
        (of(nn.cross_entropy), [0, 4, 1], OutOfRangeError, "the label 4, .* 4 cla"),
        (of(nn.cross_entropy), [0, -1, 1], OutOfRangeError, "ignore_index=-1"),
        (of(nn.cross_entropy, ignore_index=1), [1] * 3, ArgumentError, "cross_entropy has no mean over nothing"),
        (of(nn.negative_log_likelihood), [9, 0, 0], OutOfRangeError, "negative_log_likelihood got the label 9"),
        (pooled, [0, 2, 1], OutOfRangeError, "key_mask of integers must hold .* got 2"),
        (
            of(nn.binary_cross_entropy, LOGITS[:, 0]),
            [0, 1, 3],
            OutOfRangeError,
            r"needs targets in \[0, 1\], got 0 to 3",
        ),
        (lambda ids: nn.functional.one_hot(ids, 3), [0, 3, 1], OutOfRangeError, "one_hot got the id 3"),
    ],
)
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.dtype(">i4")])
def test_what_is_wrong_raises_at_once_on_the_host_and_on_a_device(
    call: Any, bad: list[int], error: Any, words: str, dtype: Any
) -> None:
    ids = np.array(bad, dtype)
    if "no mean" not in words or dtype == np.int64:
        with pytest.raises(error, match=words):
            call(ids)
    if ids.dtype.isnative:
        with pytest.raises(error, match=words):
            call(fake_device.asarray(ids))


def test_unsigned_ids(cuda: str) -> None:
    embedding = nn.Embedding(300, 2, rng=rng()).to(cuda)
    ids = np.array([200, 255], np.uint8)
    assert_close(embedding(to_device(ids, cuda)).numpy(), embedding(ids).numpy())


def test_fit_saves_nothing_that_was_computed_from_wrong_ids(cuda: str, tmp_path: Path) -> None:
    class Word(Module):
        def __init__(self) -> None:
            self.embedding = nn.Embedding(5, 2, rng=rng())

        def forward(self, ids: Any) -> Tensor:
            return self.embedding(ids)

    model = Word().to(cuda)
    data = nn.Batches([to_device(IDS.reshape(-1), cuda), IDS.reshape(-1) % 2], 2, seed=0)
    with pytest.raises(OutOfRangeError, match=r"Embedding got the id 5, but its vocabulary has 5 ids"):
        nn.fit(model, data, loss, nn.SGD(model.parameters()), epochs=2, progress=False, checkpoint=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_gradient_that_is_not_finite_ends_a_run_on_a_device_too(cuda: str) -> None:
    def broken(model: Any, batch: Any) -> Any:
        value = (model(batch[0]) ** 2).mean()
        return value + 0 * np.sqrt(value - value.detach())  # the derivative of the root at 0

    model, data = net(cuda), nn.Batches([to_device(X, cuda)], 10, seed=0)
    with pytest.raises(nn.TrainingError, match=r"at step 0 the gradient of .* is not finite"):
        nn.fit(model, data, broken, nn.SGD(model.parameters()), epochs=1, clip_norm=1.0, progress=False)


# --- clipping ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("limit", [0.5, 1e6, math.inf])
def test_clipping_by_norm_is_as_on_the_host(limit: float, dtype: Any, cuda: str) -> None:
    here: list[nn.Parameter] = []
    there: list[nn.Parameter] = []
    for i, shape in enumerate([(3, 4), (), (2, 1, 3)]):
        gradient = (40.0**i * rng(i).standard_normal(shape)).astype(dtype)
        for tensors, device in ((here, "cpu"), (there, cuda)):
            tensors.append(nn.Parameter(to_device(np.zeros(shape, dtype), device)))
            tensors[-1].grad = to_device(gradient, device)
    expected, norm = nn.clip_grad_norm(here, limit), nn.clip_grad_norm(there, limit)
    tolerance = 1e-12 if dtype is np.float64 else 1e-6 if dtype is np.float32 else 2e-3
    assert isinstance(norm, float)
    np.testing.assert_allclose(norm, expected, rtol=tolerance)
    for ours, theirs in zip(there, here, strict=True):
        assert ours.grad is not None and theirs.grad is not None and ours.grad.dtype == dtype
        np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=tolerance)


def test_a_norm_that_is_not_finite_scales_nothing(cuda: str) -> None:
    p = nn.Parameter(to_device(np.zeros(2), cuda))
    p.grad = to_device(np.array([3.0, math.nan]), cuda)
    with pytest.raises(ArgumentError, match="is not finite"):
        nn.clip_grad_norm([p], 1.0)
    assert p.grad is not None
    np.testing.assert_array_equal(p.grad.numpy(), [3.0, math.nan])
    p.grad = to_device(np.zeros(2), cuda)
    assert nn.clip_grad_norm([p], 1.0) == 0.0
