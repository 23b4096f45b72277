"""sample_weight of the losses, against PyTorch's losses without a reduction, and what an example of weight 0 may hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, UnsupportedError, check_grads
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, rng, to_torch

theirs = torch.nn.functional
SCORES, Z = rng(0).standard_normal((4, 3, 5)) * 4, rng(1).standard_normal((4, 3, 5))
LABELS = rng(2).integers(0, 5, (4, 3))
P, T = rng(3).uniform(0.05, 0.95, (4, 3, 5)), rng(4).random((4, 3, 5))
SOFT = rng(5).dirichlet(np.ones(5), (4, 3))
LOGS = np.log(rng(6).dirichlet(np.ones(5), (4, 3)))
CLASSES = rng(7).uniform(0.5, 2.0, 5)


def moved(x: Any) -> Any:
    return x.movedim(-1, 1)


def chosen(label_factors: Any, ignored: int | None = None) -> Any:
    counts = np.ones(LABELS.shape) if label_factors is None else label_factors[LABELS]
    return torch.from_numpy(counts * (ignored != LABELS))


# For each loss: ours, PyTorch's losses without a reduction, the arguments, and what a loss counts in the mean.
C: Any = lambda: torch.from_numpy(CLASSES.copy())
LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any, Any, Callable[[], Any]]] = {
    "cross_entropy": (
        nn.cross_entropy,
        lambda x, y: theirs.cross_entropy(moved(x), y, reduction="none"), SCORES, LABELS, lambda: chosen(None),
    ),
    "all settings": (
        lambda x, y, **s: nn.cross_entropy(x, y, weight=CLASSES, ignore_index=2, label_smoothing=0.1, **s),
        lambda x, y: theirs.cross_entropy(
            moved(x), y, weight=C(), ignore_index=2, label_smoothing=0.1, reduction="none"
        ),
        SCORES, LABELS, lambda: chosen(CLASSES, 2),
    ),
    "class weights": (
        lambda x, y, **s: nn.cross_entropy(x, y, weight=CLASSES, **s),
        lambda x, y: theirs.cross_entropy(moved(x), y, weight=C(), reduction="none"),
        SCORES, LABELS, lambda: chosen(CLASSES),
    ),
    "ignored": (
        lambda x, y, **s: nn.cross_entropy(x, y, ignore_index=0, **s),
        lambda x, y: theirs.cross_entropy(moved(x), y, ignore_index=0, reduction="none"),
        SCORES, LABELS, lambda: chosen(None, 0),
    ),
    "probabilities": (
        lambda x, y, **s: nn.cross_entropy(x, y, weight=CLASSES, label_smoothing=0.1, **s),
        lambda x, y: theirs.cross_entropy(moved(x), moved(y), weight=C(), label_smoothing=0.1, reduction="none"),
        SCORES, SOFT, lambda: chosen(None),
    ),
    "nll": (
        lambda x, y, **s: nn.negative_log_likelihood(x, y, weight=CLASSES, ignore_index=1, **s),
        lambda x, y: theirs.nll_loss(moved(x), y, weight=C(), ignore_index=1, reduction="none"),
        LOGS, LABELS, lambda: chosen(CLASSES, 1),
    ),
    "squared": (nn.mean_squared_error, lambda x, y: theirs.mse_loss(x, y, reduction="none"), Z, T, lambda: 1.0),
    "with_logits": (
        lambda x, y, **s: nn.binary_cross_entropy_with_logits(x, y, weight=CLASSES, pos_weight=CLASSES[::-1], **s),
        lambda x, y: theirs.binary_cross_entropy_with_logits(
            x, y, weight=C(), pos_weight=C().flip(0), reduction="none"
        ),
        Z, T, lambda: 1.0,
    ),
    "binary": (
        nn.binary_cross_entropy, lambda x, y: theirs.binary_cross_entropy(x, y, reduction="none"), P, T, lambda: 1.0
    ),
    "huber": (
        lambda x, y, **s: nn.huber_loss(x, y, delta=0.7, **s),
        lambda x, y: theirs.huber_loss(x, y, delta=0.7, reduction="none"), Z, T, lambda: 1.0,
    ),
    "kl": (
        nn.kl_divergence, lambda x, y: theirs.kl_div(x, y, reduction="none").sum(-1), LOGS, SOFT, lambda: 1.0
    ),
    "cosine": (nn.cosine_loss, lambda x, y: 1 - theirs.cosine_similarity(x, y, -1), Z, T, lambda: 1.0),
    "hinge": (
        lambda x, y, **s: nn.hinge_loss(x, y, margin=0.8, **s),
        lambda x, y: theirs.multi_margin_loss(
            x.reshape(-1, 5), y.reshape(-1), margin=0.8, reduction="none"
        ).reshape(y.shape),
        SCORES, LABELS, lambda: 1.0,
    ),
}  # fmt: skip
each_loss = pytest.mark.parametrize("name", LOSSES)
each_reduction = pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
BATCH = np.array([2.0, 0.0, 0.5, 1.0])


def factors(kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "batch":
        return BATCH
    return np.where(rng(8).random(shape) < 0.3, 0.0, rng(9).uniform(0.1, 3.0, shape))


@each_loss
@each_reduction
@pytest.mark.parametrize("kind", ["batch", "every loss"])
def test_equals_pytorch(name: str, reduction: str, kind: str) -> None:
    ours, expected, x, y, counts = LOSSES[name]
    tensor, torch_tensor = Tensor(x, requires_grad=True), to_torch(x, True)
    losses = expected(torch_tensor, to_torch(y))
    w = factors(kind, tuple(losses.shape))
    torch_w = torch.from_numpy(w.reshape(w.shape + (1,) * (losses.ndim - w.ndim))).expand(losses.shape)
    reduced = {
        "none": lambda: losses * torch_w,
        "sum": lambda: (losses * torch_w).sum(),
        "mean": lambda: (losses * torch_w).sum() / (torch_w * counts()).sum(),
    }[reduction]()
    found = ours(tensor, y, sample_weight=w, reduction=reduction)
    assert_same([found, tensor], [reduced, torch_tensor])


@each_loss
@each_reduction
@pytest.mark.parametrize("kind", ["batch", "every loss"])
def test_of_an_example_of_weight_0_nothing_is_read(name: str, reduction: str, kind: str) -> None:
    """Neither forward nor backward: NaN and infinity in scores and targets, and labels that are no classes."""
    ours, _, x, y, _ = LOSSES[name]
    shape = ours(x, y, reduction="none").shape
    w = factors(kind, shape)
    unread = np.broadcast_to(w.reshape(w.shape + (1,) * (len(shape) - w.ndim)), shape) == 0
    clean, results = Tensor(x, requires_grad=True), []
    for bad in (np.nan, np.inf, -np.inf):
        dirty_x, dirty_y = x.copy(), y.copy()
        dirty_x[unread], dirty_y[unread] = bad, -7 if y.dtype.kind == "i" else bad
        tensor = Tensor(dirty_x, requires_grad=True)
        loss = ours(tensor, dirty_y, sample_weight=w, reduction=reduction)
        loss.backward(np.ones(loss.shape))
        assert not tensor.grad.numpy()[unread].any()
        results.append((loss, tensor.grad))
    loss = ours(clean, y, sample_weight=w, reduction=reduction)
    loss.backward(np.ones(loss.shape))
    for found, g in results:
        assert_close(found.numpy(), loss.numpy())
        assert_close(g.numpy(), clean.grad.numpy())


@each_loss
def test_two_is_the_example_twice_and_one_for_all_changes_nothing(name: str) -> None:
    ours, _, x, y, _ = LOSSES[name]
    twice = np.array([0, 0, 2, 3])
    assert_close(ours(x, y, sample_weight=np.bincount(twice, minlength=4)).item(), ours(x[twice], y[twice]).item())
    for reduction in ("mean", "sum", "none"):
        for ones in (np.ones(4, bool), [1, 1, 1, 1], Tensor(np.ones(4))):
            assert_close(
                ours(x, y, sample_weight=ones, reduction=reduction).numpy(), ours(x, y, reduction=reduction).numpy()
            )


@each_loss
@each_reduction
def test_gradients_of_first_and_second_order(name: str, reduction: str) -> None:
    ours, _, x, y, _ = LOSSES[name]
    check_grads(lambda x: ours(x, y[:, :1], sample_weight=BATCH, reduction=reduction), [x[:, :1]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_stays_and_the_mean_of_many_does_not_overflow(dtype: Any) -> None:
    x, w = Tensor(np.ones((70_000, 2), dtype), requires_grad=True), np.full(70_000, 3.0)
    loss = nn.mean_squared_error(x, np.zeros((70_000, 2)), sample_weight=w)
    loss.backward()
    assert loss.dtype == x.grad.dtype == dtype and loss.item() == pytest.approx(1.0, rel=1e-3)
    if dtype == np.float32:  # in float16, the gradient of np.mean of so many has a rule of its own
        assert x.grad.numpy()[0, 0] == pytest.approx(2 / 140_000, rel=1e-3)


def test_bad_weights() -> None:
    for given, error, words in (
        (np.ones(3), ShapeError, r"cross_entropy needs a sample_weight of shape \(4, 3\) or of its .*\(4,\), got \(3,\)"),
        (np.ones((4, 1)), ShapeError, r"got \(4, 1\)"),
        (2.0, ShapeError, r"got \(\)"),
        (np.ones((4, 3, 5)), ShapeError, r"got \(4, 3, 5\)"),
        ([1, -1, 1, 1], OutOfRangeError, "finite numbers, 0 or more, got "),
        ([1, np.nan, 1, 1], OutOfRangeError, "finite numbers"),
        ([1, np.inf, 1, 1], OutOfRangeError, "finite numbers"),
        ([1j] * 4, DTypeError, "sample_weight must be real numbers"),
        (["a"] * 4, DTypeError, "cannot make an array of numbers"),
        (np.zeros(4), ArgumentError, "mean over nothing: the batch is empty, or all of it is ignored or has weight 0"),
        (Tensor(np.ones(4), requires_grad=True), UnsupportedError, "sample_weight of cross_entropy, .*multiply the losses"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            nn.cross_entropy(SCORES, LABELS, sample_weight=given)
    assert nn.cross_entropy(SCORES, LABELS, sample_weight=np.zeros(4), reduction="sum").item() == 0
    only_ignored = np.where(LABELS == 2, 1.0, 0.0)
    with pytest.raises(ArgumentError, match="mean over nothing"):
        nn.cross_entropy(SCORES, LABELS, sample_weight=only_ignored, ignore_index=2)
    with pytest.raises(ArgumentError, match="reduction="):
        nn.cross_entropy(SCORES, LABELS, sample_weight=BATCH, reduction="max")
    with pytest.raises(ShapeError, match="of the same shape"):
        nn.mean_squared_error(Z, T[:, :2], sample_weight=BATCH)
    with pytest.raises(ShapeError):
        nn.cross_entropy(SCORES, LABELS[:, :2], sample_weight=BATCH)
