"""The losses against PyTorch's."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, check_grads, grad, reference_mode
from nn import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    mean_squared_error,
    negative_log_likelihood,
)
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, gradient, rng, to_torch

theirs = torch.nn.functional

LABELS = np.array([[0, 2, 1], [3, 3, 0]])
LOGITS = rng().standard_normal((2, 3, 4)) * 5
PADDED = np.array([[0, 2, -100], [3, -100, -100]])
SOFT = rng(1).dirichlet(np.ones(4), (2, 3))
LOG_PROBABILITIES = LOGITS - np.log(np.exp(LOGITS).sum(axis=-1, keepdims=True))
P, T = rng(2).random((2, 3, 5)), rng(3).random((2, 3, 5))
Z = rng(4).standard_normal((2, 3, 5)) * 5

each_reduction = pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
LABEL_KINDS: dict[str, Any] = {
    "labels": (LABELS, {}),
    "ignoring 0": (LABELS, {"ignore_index": 0}),
    "ignoring -100": (PADDED, {"ignore_index": -100}),
    "ignoring none": (LABELS, {"ignore_index": -100}),
}
each_kind = pytest.mark.parametrize(("labels", "ignored"), LABEL_KINDS.values(), ids=LABEL_KINDS)
smoothings = pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 1.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_of_binary_cross_entropy_computes_what_its_rules_compute(dtype: Any) -> None:
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 80.0, -80.0, 1e6])
    z = np.concatenate([ends, ends, rng(5).standard_normal(80) * 9]).astype(dtype)
    t = np.concatenate([np.zeros(10), np.ones(10), rng(6).random(80)]).astype(dtype)

    def computed() -> list[Any]:
        logits, targets = Tensor(z, requires_grad=True), Tensor(t, requires_grad=True)
        loss = binary_cross_entropy_with_logits(logits, targets, reduction="none")
        loss.backward(np.cos(np.arange(100)).astype(dtype))
        return [loss.numpy(), logits.grad.numpy(), targets.grad.numpy()]

    with reference_mode():
        expected = computed()
    for got, want in zip(computed(), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@smoothings
@each_kind
@each_reduction
def test_cross_entropy_equals_pytorch(reduction, labels, ignored, label_smoothing) -> None:
    """PyTorch wants the classes on the second axis."""
    settings = {"reduction": reduction, "label_smoothing": label_smoothing} | ignored
    logits, torch_logits = Tensor(LOGITS, requires_grad=True), to_torch(LOGITS, True)
    loss = cross_entropy(logits, labels, **settings)
    torch_loss = theirs.cross_entropy(torch_logits.movedim(-1, 1), to_torch(labels), **settings)
    assert_same([loss, logits], [torch_loss, torch_logits])


@smoothings
@each_reduction
def test_cross_entropy_of_probabilities_equals_pytorch(reduction, label_smoothing) -> None:
    """The gradient of the probabilities too, as distillation may ask for."""
    tensors, torch_tensors = ([make(a, True) for a in (LOGITS, SOFT)] for make in (tensor_of, to_torch))
    settings = {"reduction": reduction, "label_smoothing": label_smoothing}
    loss = cross_entropy(*tensors, **settings)
    torch_loss = theirs.cross_entropy(*(t.movedim(-1, 1) for t in torch_tensors), **settings)
    assert_same([loss, *tensors], [torch_loss, *torch_tensors])


def test_one_hot_probabilities_are_labels() -> None:
    one_hot = nn.functional.one_hot(LABELS, 4, dtype=np.float32)
    assert_close(cross_entropy(LOGITS, one_hot).item(), cross_entropy(LOGITS, LABELS).item())


@each_kind
@each_reduction
def test_negative_log_likelihood_equals_pytorch(reduction, labels, ignored) -> None:
    ours, expected = Tensor(LOG_PROBABILITIES, requires_grad=True), to_torch(LOG_PROBABILITIES, True)
    settings = {"reduction": reduction} | ignored
    loss = negative_log_likelihood(ours, labels, **settings)
    torch_loss = theirs.nll_loss(expected.movedim(-1, 1), to_torch(labels), **settings)
    assert_same([loss, ours], [torch_loss, expected])


def tensor_of(array, requires_grad=False) -> Any:
    return Tensor(array, requires_grad=requires_grad)


PAIRS = {
    "mean_squared_error": (mean_squared_error, theirs.mse_loss, P),
    "logits": (binary_cross_entropy_with_logits, theirs.binary_cross_entropy_with_logits, Z),
    "probabilities": (binary_cross_entropy, theirs.binary_cross_entropy, P),
}
each_pair = pytest.mark.parametrize(("ours", "expected", "x"), PAIRS.values(), ids=PAIRS)


@each_reduction
@each_pair
def test_losses_of_pairs_equal_pytorch(ours, expected, x, reduction) -> None:
    tensors, torch_tensors = ([make(a, True) for a in (x, T)] for make in (tensor_of, to_torch))
    loss, torch_loss = ours(*tensors, reduction=reduction), expected(*torch_tensors, reduction=reduction)
    assert_same([loss, *tensors], [torch_loss, *torch_tensors])


@each_reduction
def test_gradients(reduction) -> None:
    """At first and second order."""
    for labels, ignored in LABEL_KINDS.values():
        for s in (0.0, 0.1):
            check_grads(
                lambda z, y=labels, s=s, i=ignored: cross_entropy(z, y, reduction=reduction, label_smoothing=s, **i),
                (LOGITS,),
            )
        check_grads(
            lambda p, y=labels, i=ignored: negative_log_likelihood(p, y, reduction=reduction, **i),
            (LOG_PROBABILITIES,),
        )
    check_grads(lambda z, t: cross_entropy(z, t, reduction=reduction, label_smoothing=0.1), (LOGITS, SOFT))
    for ours, _, x in PAIRS.values():
        check_grads(lambda x, t, f=ours: f(x, t, reduction=reduction), (0.1 + 0.8 * x, 0.1 + 0.8 * T))


def test_labels_and_targets_of_any_kind() -> None:
    expected = cross_entropy(LOGITS, LABELS).item()
    for labels in (LABELS.tolist(), LABELS.astype(np.uint8), Tensor(LABELS)):
        assert cross_entropy(LOGITS, labels).item() == expected
        assert cross_entropy(LOGITS, labels, ignore_index=-100).item() == pytest.approx(expected, rel=1e-14)
    for targets in (T > 0.5, (T > 0.5).astype(np.uint8), (T > 0.5).tolist(), Tensor((T > 0.5).astype("f4"))):
        assert binary_cross_entropy(P, targets).item() == binary_cross_entropy(P, (T > 0.5) * 1.0).item()


def test_float32_stays_float32() -> None:
    """Whatever the targets are, and the gradients too."""
    calls = [
        (LOGITS, lambda z: cross_entropy(z, PADDED, ignore_index=-100, label_smoothing=0.1)),
        (LOGITS, lambda z: cross_entropy(z, SOFT, label_smoothing=0.1)),
        (LOG_PROBABILITIES, lambda z: negative_log_likelihood(z, PADDED, ignore_index=-100)),
        *((x, lambda x, f=ours: f(x, T)) for ours, _, x in PAIRS.values()),
    ]
    for x, loss in calls:
        tensor = Tensor(x.astype(np.float32), requires_grad=True)
        result = loss(tensor)
        result.backward()
        assert result.dtype == gradient(tensor).dtype == np.float32


def test_large_logits_stay_finite() -> None:
    loss = cross_entropy(np.array([[1e4, 0.0], [0.0, 1e4]]), [0, 0], reduction="none")
    np.testing.assert_array_equal(loss.numpy(), [0, 1e4])
    z = Tensor([1e4, 1e4, -1e4, -1e4], requires_grad=True)
    loss = binary_cross_entropy_with_logits(z, [1, 0, 1, 0], reduction="none")
    loss.sum().backward()
    np.testing.assert_array_equal(loss.numpy(), [0, 1e4, 1e4, 0])
    np.testing.assert_array_equal(gradient(z), [0, 1, -1, 0])


def test_probabilities_of_0_and_1_stay_finite_as_in_pytorch() -> None:
    p, t = np.array([0.0, 1.0, 0.0, 1.0, 1e-60]), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    ours, expected = Tensor(p, requires_grad=True), to_torch(p, True)
    loss, torch_loss = binary_cross_entropy(ours, t), theirs.binary_cross_entropy(expected, to_torch(t))
    loss.backward()
    torch_loss.backward()
    assert loss.item() == torch_loss.item()
    np.testing.assert_allclose(gradient(ours), expected.grad.numpy(), rtol=1e-8)  # PyTorch's bound is float32's 1e-12


def test_ignored_labels_get_no_gradient_and_may_stand_anywhere() -> None:
    logits = Tensor(LOGITS, requires_grad=True)
    cross_entropy(logits, PADDED, ignore_index=-100, label_smoothing=0.1).backward()
    assert not gradient(logits)[PADDED == -100].any() and gradient(logits)[PADDED != -100].all()
    expected = cross_entropy(LOGITS[PADDED != -100], PADDED[PADDED != -100], label_smoothing=0.1)
    assert_close(cross_entropy(LOGITS, PADDED, ignore_index=-100, label_smoothing=0.1).item(), expected.item())


def test_smoothing_by_hand() -> None:
    """Vaswani et al. 2017, section 5.4: of 4 classes with s = 0.1, the label counts 0.925 and the others 0.025 each."""
    counts = np.full(4, 0.025) + 0.9 * (np.arange(4) == 2)
    expected = -(counts * LOG_PROBABILITIES[0, 0]).sum()
    assert_close(cross_entropy(LOGITS[0, 0], 2, label_smoothing=0.1).item(), expected)


@pytest.mark.parametrize("parts", [2, 3, 6])
def test_the_gradients_of_micro_batches_add_up_to_those_of_the_batch(parts) -> None:
    """Means of equal parts, divided by how many there are; or sums, where parts count different numbers of labels."""
    x, labels = rng(5).standard_normal((6, 3)), rng(6).integers(0, 4, 6)
    padded = np.where(np.arange(6) % 4, labels, -1)

    def gradients(loss, batches) -> list[np.ndarray]:
        layer = nn.Affine(3, 4, rng=rng(), dtype=np.float64)
        for batch in batches:
            loss(layer(x[batch]), batch).backward()
        return [gradient(p) for p in layer.parameters()]

    whole, pieces = [slice(None)], np.split(np.arange(6), parts)
    losses = [
        lambda logits, i: cross_entropy(logits, labels[i]) / (1 if isinstance(i, slice) else parts),
        lambda logits, i: cross_entropy(logits, padded[i], reduction="sum", ignore_index=-1, label_smoothing=0.1),
        lambda logits, i: mean_squared_error(logits, x[i] @ np.ones((3, 4))) / (1 if isinstance(i, slice) else parts),
    ]
    for loss in losses:
        for got, expected in zip(gradients(loss, pieces), gradients(loss, whole), strict=True):
            assert_close(got, expected)


@pytest.mark.parametrize(("label", "named"), [(4, "4"), (-1, "-1")])
def test_a_label_out_of_range_is_named_with_the_number_of_classes(label, named) -> None:
    labels = LABELS.copy()
    labels[1, 1] = label
    for loss in (cross_entropy, negative_log_likelihood):
        for ignored in (None, -100):
            with pytest.raises(OutOfRangeError, match=rf"the label {named}, but logits have 4 classes: 0 to 3"):
                loss(LOGITS, labels, ignore_index=ignored)


def test_bad_labels() -> None:
    for loss in (cross_entropy, negative_log_likelihood):
        name = loss.__name__
        with pytest.raises(DTypeError, match=f"{name} needs integer labels, got float64"):
            loss(LOGITS, LABELS.astype(float))
        with pytest.raises(DTypeError, match=f"{name} needs a floating input, got dtype int64"):
            loss(LOGITS.astype(int), LABELS)
        with pytest.raises(ShapeError, match=rf"{name} needs logits .* got \(2, 3, 4\) and \(3,\)"):
            loss(LOGITS, LABELS[0])
        with pytest.raises(ArgumentError, match=f"{name} takes reduction='mean', 'sum' or 'none', got 'max'"):
            loss(LOGITS, LABELS, reduction="max")
        with pytest.raises(ArgumentError, match=f"{name} has no mean over nothing"):
            loss(np.ones((0, 4)), np.ones(0, int))
        with pytest.raises(ArgumentError, match=f"{name} has no mean over nothing: .* all of it is ignored"):
            loss(LOGITS, np.full_like(LABELS, 9), ignore_index=9)
        assert loss(np.ones((0, 4)), np.ones(0, int), reduction="sum").item() == 0
        assert loss(LOGITS, np.full_like(LABELS, 9), ignore_index=9, reduction="sum").item() == 0


def test_bad_probabilities_of_classes_and_bad_smoothing() -> None:
    for s in (-0.1, 1.5, float("nan")):
        with pytest.raises(ArgumentError, match=r"label_smoothing must be in \[0, 1\], got"):
            cross_entropy(LOGITS, LABELS, label_smoothing=s)
    with pytest.raises(ArgumentError, match="ignore_index is for labels that are integers"):
        cross_entropy(LOGITS, SOFT, ignore_index=0)
    with pytest.raises(ShapeError, match=r"logits and targets of the same shape, got \(2, 3, 4\) and \(2, 3, 3\)"):
        cross_entropy(LOGITS, SOFT[..., :3])
    with pytest.raises(ArgumentError, match=r"takes reduction='mean', 'sum' or 'none', got \['mean'\]"):
        cross_entropy(LOGITS, SOFT, reduction=["mean"])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="takes reduction='mean', 'sum' or 'none', got 'max'"):
        cross_entropy(LOGITS, SOFT, reduction="max")


@each_pair
def test_bad_pairs(ours, expected, x) -> None:
    name = ours.__name__
    with pytest.raises(ShapeError, match=rf"{name} needs .* of the same shape, got \(2, 3, 5\) and \(2, 3, 1\)"):
        ours(x, T[..., :1])
    with pytest.raises(DTypeError, match=f"{name} needs a floating input, got dtype int64"):
        ours(np.ones((2, 3), int), np.ones((2, 3)))
    with pytest.raises(DTypeError, match="complex"):
        ours(x, T.astype(complex))
    with pytest.raises(ArgumentError, match=f"{name} takes reduction='mean', 'sum' or 'none', got 'max'"):
        ours(x, T, reduction="max")
    with pytest.raises(ArgumentError, match=f"{name} has no mean over nothing"):
        ours(x[:0], T[:0])
    if ours is not mean_squared_error:
        with pytest.raises(OutOfRangeError, match=rf"{name} needs targets in \[0, 1\], got .* to 2"):
            ours(x, np.where(T.max() == T, 2, T))
    if ours is binary_cross_entropy:
        with pytest.raises(OutOfRangeError, match=r"probabilities in \[0, 1\], got -0.5 to"):
            ours(np.where(P.min() == P, -0.5, P), T)


def test_a_label_that_says_padding_and_a_setting_that_is_no_number() -> None:
    with pytest.raises(OutOfRangeError, match=r"got the label -100, .*nn.cross_entropy\(..., ignore_index=-100\)"):
        cross_entropy(np.zeros((2, 3)), np.array([1, -100]))
    with pytest.raises(ArgumentError, match=r"label_smoothing must be in \[0, 1\], got '0.1'"):
        cross_entropy(np.zeros((2, 3)), np.array([1, 2]), label_smoothing="0.1")  # type: ignore[arg-type]


@pytest.mark.parametrize("ignored", [0, 5])
def test_the_number_of_losses_is_not_a_float16(ignored: int) -> None:
    """float16 ends at 65504. The gradients are those of float64, to the rounding of numbers as small as 1 / 70000."""
    x = rng().uniform(0.5, 1.5, (70000, 2)).astype(np.float16)
    labels = np.where(np.arange(70000) < ignored, -1, 1)
    losses: list[Any] = [lambda v: cross_entropy(v, labels, ignore_index=-1)]
    if not ignored:
        losses += [
            lambda v, f=f: f(v, np.ones_like(x))
            for f in (mean_squared_error, binary_cross_entropy_with_logits, nn.huber_loss)
        ]
        losses.append(lambda v: negative_log_likelihood(v, labels))
    for f in losses:
        value, want = f(Tensor(x)).item(), f(Tensor(x.astype(np.float64))).item()
        assert abs(value - want) < 2e-3 * abs(want)
        found, exact = grad(f)(x), grad(f)(x.astype(np.float64))
        assert found.dtype == np.float16 and np.abs(found - exact).max() < 2e-7
