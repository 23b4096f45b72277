"""Losses read nothing that has a share, a factor or a weight of 0: there, a score may be infinite or NaN."""

import contextlib
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import OutOfRangeError, Tensor
from tests.nn.layers import rng


def both_orders(loss: Any, x: np.ndarray, *, size: float = 1.0) -> list[np.ndarray]:
    """The loss, its gradient by x, and the gradient of the sum of squares of that."""
    t = Tensor(x, requires_grad=True)
    y = loss(t)
    (first,) = mg.autograd_grad((y * size).sum(), [t], create_graph=True)
    (second,) = mg.autograd_grad((first * first).sum(), [t], allow_unused=True) if first.requires_grad else (None,)
    return [y.numpy(), first.numpy(), np.zeros_like(x) if second is None else second.numpy()]


def assert_orders(found: list[np.ndarray], expected: list[np.ndarray], at: Any, dtype: Any, whole: bool = True) -> None:
    """``found`` is ``expected`` at ``at``, and its gradients are 0 elsewhere."""
    y, *gradients = found
    np.testing.assert_allclose(y if whole else y[at], expected[0], rtol=1e-12 if dtype == np.float64 else 1e-5)
    for one, other in zip(gradients, expected[1:]):
        assert one.dtype == dtype
        np.testing.assert_allclose(one[at], other, rtol=1e-9 if dtype == np.float64 else 1e-4, atol=1e-7)
        rest = one.copy()
        rest[at] = 0
        np.testing.assert_array_equal(rest, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_share_of_0_at_a_logit_of_minus_infinity_contributes_0(reduction: str, dtype: Any) -> None:
    logits, shares = rng(0).standard_normal((3, 5)).astype(dtype), rng(1).dirichlet(np.ones(3), 3).astype(dtype)
    with_masked, with_zeros, at = np.full((3, 5), -np.inf, dtype), np.zeros((3, 5), dtype), (slice(None), [0, 2, 4])
    with_masked[at], with_zeros[at] = logits[at], shares
    weights = np.array([0.5, 3.0, 2.0, 0.0, 1.0])
    for loss in (
        lambda z, t, w: nn.cross_entropy(z, t, reduction=reduction),
        lambda z, t, w: nn.cross_entropy(z, t, reduction=reduction, weight=w),
        lambda z, t, w: nn.kl_divergence(mg.log_softmax(z), t, reduction=reduction),
    ):
        found = both_orders(lambda z, f=loss: f(z, with_zeros, weights), with_masked)
        expected = both_orders(lambda z, f=loss: f(z, shares, weights[[0, 2, 4]]), logits[at])
        assert_orders(found, expected, at, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", ["sum", "none", "mean"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_what_is_ignored_is_not_read(smoothing: float, reduction: str, dtype: Any) -> None:
    """An ignored row, and without smoothing a row of weight 0, may be NaN; so may the score of a class of weight 0."""
    logits = rng(2).standard_normal((6, 4)).astype(dtype)
    labels, at = np.array([0, -1, 3, -1, 2, 3]), [0, 2, 4, 5]
    for weights in (None, np.array([1.0, 0.5, 2.0, 3.0])):
        losses: list[Any] = [nn.cross_entropy, nn.negative_log_likelihood]
        options: Any = {"reduction": reduction, "weight": weights}
        for loss in losses:
            own = {**options, "label_smoothing": smoothing} if loss is nn.cross_entropy else options
            for bad in (np.nan, np.inf, -np.inf):
                z = logits.copy()
                z[[1, 3]] = bad
                found = both_orders(lambda t, f=loss, o=own: f(t, labels, ignore_index=-1, **o), z)
                expected = both_orders(lambda t, f=loss, o=own: f(t, labels[at], **o), logits[at])
                assert_orders(found, expected, at, dtype, reduction != "none")
    weights = np.array([1.0, 0.0, 2.0, 0.5])
    options = {"reduction": reduction, "weight": weights, "label_smoothing": smoothing}
    labels = np.array([0, 1, 3, 1, 2, 3])
    z = logits.copy()
    z[:, 1] = -np.inf
    classes, fewer = [0, 2, 3], np.array([0, 0, 2, 0, 1, 2])
    kept = (np.array(at)[:, None], np.array(classes)) if not smoothing else (slice(None), classes)
    found = both_orders(lambda t: nn.cross_entropy(t, labels, **options), z)
    assert all(np.isfinite(part).all() for part in found)
    if not smoothing:
        expected = both_orders(
            lambda t: nn.cross_entropy(t, fewer[at], weight=weights[classes], reduction=reduction), logits[kept]
        )
        assert_orders([found[0][at] if reduction == "none" else found[0], *found[1:]], expected, kept, dtype)
        z[1] = np.nan
        again = both_orders(lambda t: nn.cross_entropy(t, labels, **options), z)
        for one, other in zip(again, found):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernels", [True, False])
def test_binary_losses_at_infinite_logits(kernels: bool, dtype: Any) -> None:
    z, t = np.array([-np.inf, np.inf, 0.5, -np.inf, np.inf], dtype), np.array([0, 1, 0.25, 1, 0], dtype)
    with contextlib.nullcontext() if kernels else mg.reference_mode():
        for options in ({}, {"pos_weight": [3.0]}, {"weight": [2.0]}):
            found = nn.binary_cross_entropy_with_logits(z, t, reduction="none", **options).numpy()
            assert found[:2].tolist() == [0, 0] and np.isinf(found[3:]).all() and np.isfinite(found[2])
            for one in both_orders(lambda x, o=options: nn.binary_cross_entropy_with_logits(x, t[:3], **o), z[:3]):
                assert np.isfinite(one).all()
        assert nn.binary_cross_entropy_with_logits(z[:2], t[:2]).item() == 0
        nothing = nn.binary_cross_entropy_with_logits(z[3:4], t[3:4], pos_weight=[0.0])  # t is 1
        assert nothing.item() == 0
        z = rng(3).standard_normal((4, 3)).astype(dtype)
        weight, labels = np.array([1.0, 0.0, 2.0, 0.0])[:, None], rng(4).random((4, 3)).astype(dtype)
        for bad in (np.nan, np.inf, -np.inf):
            hidden = np.where(weight == 0, dtype(bad), z)
            one_run, other_run = (
                both_orders(
                    lambda x: nn.binary_cross_entropy_with_logits(x, labels, weight=weight, pos_weight=[2.0]), each
                )
                for each in (hidden, np.where(weight == 0, dtype(0), z))
            )
            for one, other in zip(one_run, other_run):
                np.testing.assert_array_equal(one, other)


def test_smoothing_counts_every_class() -> None:
    """A share of a class of probability 0 is an infinite loss, at the label, too."""
    z = np.array([[0.0, 1.0, -np.inf]])
    for label in (0, 2):
        assert nn.cross_entropy(z, [label], label_smoothing=0.1).item() == np.inf


def test_a_divergence_from_negative_probabilities_is_refused() -> None:
    for bad in (-0.5, np.nan):
        with pytest.raises(OutOfRangeError, match="kl_divergence needs targets of 0 or more, got"):
            nn.kl_divergence(np.log([[0.5, 0.5]]), [[bad, 1.5]])
