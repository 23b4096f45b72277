"""Huber, Kullback-Leibler, cosine and hinge losses, and the weights of the other losses, beside PyTorch's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor
from tests.lazy import torch
from tests.nn.layers import assert_close, rng, to_torch

F = torch.nn.functional
X, Y = 2 * rng(2).standard_normal((5, 4)), rng(3).standard_normal((5, 4))
LABELS = np.array([3, 0, 1, 1, 2])
T = np.exp(Y) / np.exp(Y).sum(axis=1, keepdims=True)
T[0] = [0, 0.5, 0, 0.5]
WEIGHT, BITS = np.array([0.5, 2.0, 1.0, 0.1]), (Y > 0).astype(float)
FACTORS = np.abs(X)


def torch_labels() -> Any:
    return torch.tensor(LABELS)


def kl(x: Any, reduction: str) -> Any:
    rows = F.kl_div(F.log_softmax(x, -1), to_torch(T), reduction="none").sum(-1)
    return {"mean": rows.mean(), "sum": rows.sum(), "none": rows}[reduction]


def cosine(x: Any, reduction: str) -> Any:
    return F.cosine_embedding_loss(x, to_torch(Y), torch.ones(5), reduction=reduction)


def hinge(x: Any, margin: float, reduction: str) -> Any:
    """Written out, as PyTorch's own has no second derivative."""
    picked = x.gather(1, torch_labels()[:, None])
    losses = torch.clamp(margin - picked + x, min=0).scatter(1, torch_labels()[:, None], 0.0).sum(1) / 4
    found = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    torch.testing.assert_close(found, F.multi_margin_loss(x, torch_labels(), margin=margin, reduction=reduction))
    return found


Pair = tuple[Callable[..., Any], Callable[..., Any]]  # ours and PyTorch's, both of (x, reduction)


def same(ours: str, theirs: str, target: np.ndarray, **settings: Any) -> Pair:
    """Functions of the same arguments: arrays go to PyTorch as its tensors."""

    def of_torch(x: Any, reduction: str) -> Any:
        given = {name: to_torch(np.asarray(s)) if name.endswith("weight") else s for name, s in settings.items()}
        return getattr(F, theirs)(x, to_torch(target), **given, reduction=reduction)

    return lambda x, r: getattr(nn, ours)(x, target, **settings, reduction=r), of_torch


CROSS_ENTROPY = "cross_entropy", "cross_entropy"
LIKELIHOOD = "negative_log_likelihood", "nll_loss"
LOGITS = "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits"
CASES: dict[str, Pair] = {
    "huber": same("huber_loss", "huber_loss", Y),
    "huber, delta": same("huber_loss", "huber_loss", Y, delta=0.3),
    "kl": (lambda x, r: nn.kl_divergence(mg.log_softmax(x), T, reduction=r), kl),
    "cosine": (lambda x, r: nn.cosine_loss(x, Y, reduction=r), cosine),
    "hinge": (lambda x, r: nn.hinge_loss(x, LABELS, reduction=r), lambda x, r: hinge(x, 1.0, r)),
    "hinge, margin": (
        lambda x, r: nn.hinge_loss(x, LABELS, margin=2.5, reduction=r),
        lambda x, r: hinge(x, 2.5, r),
    ),
    "cross entropy, weight": same(*CROSS_ENTROPY, LABELS, weight=WEIGHT),
    "cross entropy, all": same(*CROSS_ENTROPY, LABELS, weight=WEIGHT, label_smoothing=0.2, ignore_index=1),
    "cross entropy, probabilities": same(*CROSS_ENTROPY, T, weight=WEIGHT, label_smoothing=0.2),
    "likelihood": same(*LIKELIHOOD, LABELS, weight=WEIGHT),
    "likelihood, ignored": same(*LIKELIHOOD, LABELS, weight=WEIGHT, ignore_index=3),
    "logits, pos_weight": same(*LOGITS, BITS, pos_weight=WEIGHT),
    "logits, both": same(*LOGITS, T, weight=FACTORS, pos_weight=3.0),
}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", CASES)
def test_a_loss_and_both_derivatives_are_pytorchs(name: str, reduction: str) -> None:
    ours, theirs = CASES[name]
    x, torch_x = Tensor(X, requires_grad=True), to_torch(X, requires_grad=True)
    y, torch_y = ours(x, reduction), theirs(torch_x, reduction)
    assert_close(y.numpy(), torch_y.detach().numpy())
    (g,) = mg.autograd_grad((y * y).sum(), [x], create_graph=True)
    (torch_g,) = torch.autograd.grad((torch_y * torch_y).sum(), torch_x, create_graph=True)
    (second,) = mg.autograd_grad((g * g).sum(), [x])
    (torch_second,) = torch.autograd.grad((torch_g * torch_g).sum(), torch_x)
    assert_close(g.numpy(), torch_g.detach().numpy())
    np.testing.assert_allclose(second.numpy(), torch_second.numpy(), rtol=1e-10, atol=1e-10)


def test_weights_of_one_change_nothing() -> None:
    assert_close(nn.cross_entropy(X, LABELS, weight=np.ones(4)).item(), nn.cross_entropy(X, LABELS).item())
    plain = nn.binary_cross_entropy_with_logits(100 * X, BITS, reduction="none")
    np.testing.assert_array_equal(
        nn.binary_cross_entropy_with_logits(100 * X, BITS, pos_weight=1.0, weight=1.0, reduction="none").numpy(),
        plain.numpy(),
    )


def test_the_curvature_of_huber_where_nothing_is_wrong() -> None:
    assert mg.hessian(lambda x: nn.huber_loss(x, np.zeros(1)))(np.zeros(1)) == [[1.0]]


def test_dtype_follows_the_scores() -> None:
    single = X.astype(np.float32)
    assert nn.cross_entropy(single, LABELS, weight=WEIGHT).dtype == np.float32
    assert nn.binary_cross_entropy_with_logits(single, BITS, pos_weight=WEIGHT).dtype == np.float32
    assert nn.huber_loss(single, Y).dtype == nn.cosine_loss(single, Y).dtype == np.float32
    assert nn.hinge_loss(single, LABELS).dtype == nn.kl_divergence(single, T).dtype == np.float32


def test_bad_input() -> None:
    with pytest.raises(ShapeError, match=r"cross_entropy needs a weight for each of 4 classes, got shape \(3,\)"):
        nn.cross_entropy(X, LABELS, weight=np.ones(3))
    with pytest.raises(ShapeError, match=r"needs pos_weight of a shape that broadcasts to \(5, 4\), got \(5,\)"):
        nn.binary_cross_entropy_with_logits(X, BITS, pos_weight=np.ones(5))
    with pytest.raises(ShapeError, match=r"needs weight of a shape that broadcasts to \(5, 4\), got \(2, 5, 4\)"):
        nn.binary_cross_entropy_with_logits(X, BITS, weight=np.ones((2, 5, 4)))
    with pytest.raises(ArgumentError, match=r"has no mean over nothing: .* has weight 0"):
        nn.cross_entropy(X[:1], LABELS[:1], weight=[1.0, 1.0, 1.0, 0.0])
    with pytest.raises(ArgumentError, match=r"delta must be a number >= 0, got -1"):
        nn.huber_loss(X, Y, delta=-1)
    with pytest.raises(OutOfRangeError, match=r"hinge_loss got the label 4, but logits have 4 classes"):
        nn.hinge_loss(X, LABELS + 1)
    with pytest.raises(ShapeError, match=r"cosine_loss needs x and targets of the same shape, got \(5, 4\) and \(4,\)"):
        nn.cosine_loss(X, Y[0])
    for loss in (nn.kl_divergence, nn.cosine_loss):
        with pytest.raises(ShapeError, match=r"got a number"):
            loss(1.0, 1.0)
