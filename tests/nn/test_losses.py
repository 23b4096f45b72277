"""Cross-entropy against PyTorch's."""

import numpy as np
import pytest
import torch

from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, check_grads
from nn import cross_entropy
from tests.nn.layers import assert_same, rng, to_torch

LABELS = np.array([[0, 2, 1], [3, 3, 0]])
LOGITS = rng().standard_normal((2, 3, 4)) * 5


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_equals_pytorch(reduction) -> None:
    """PyTorch wants the classes on the second axis."""
    logits, torch_logits = Tensor(LOGITS, requires_grad=True), to_torch(LOGITS, True)
    loss = cross_entropy(logits, LABELS, reduction=reduction)
    torch_loss = torch.nn.functional.cross_entropy(torch_logits.movedim(-1, 1), to_torch(LABELS), reduction=reduction)
    assert_same([loss, logits], [torch_loss, torch_logits])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients(reduction) -> None:
    check_grads(lambda logits: cross_entropy(logits, LABELS, reduction=reduction), (LOGITS,))


def test_labels_of_any_integer_kind() -> None:
    expected = cross_entropy(LOGITS, LABELS).item()
    for labels in (LABELS.tolist(), LABELS.astype(np.uint8), Tensor(LABELS)):
        assert cross_entropy(LOGITS, labels).item() == expected


def test_large_logits_stay_finite() -> None:
    loss = cross_entropy(np.array([[1e4, 0.0], [0.0, 1e4]]), [0, 0], reduction="none")
    np.testing.assert_array_equal(loss.numpy(), [0, 1e4])


def test_on_a_device_with_labels_from_the_host(put) -> None:
    loss = cross_entropy(Tensor(put(LOGITS)), LABELS)
    assert type(loss.data) is type(put(LOGITS))
    assert loss.item() == pytest.approx(cross_entropy(LOGITS, LABELS).item(), rel=1e-12)


@pytest.mark.parametrize(("label", "named"), [(4, "4"), (-1, "-1")])
def test_a_label_out_of_range_is_named_with_the_number_of_classes(label, named) -> None:
    labels = LABELS.copy()
    labels[1, 1] = label
    with pytest.raises(OutOfRangeError, match=rf"the label {named}, but logits have 4 classes: 0 to 3"):
        cross_entropy(LOGITS, labels)


def test_bad_input() -> None:
    with pytest.raises(DTypeError, match="integer labels, got float64"):
        cross_entropy(LOGITS, LABELS.astype(float))
    with pytest.raises(DTypeError, match="floating input, got dtype int64"):
        cross_entropy(LOGITS.astype(int), LABELS)
    with pytest.raises(ShapeError, match=r"\(2, 3, 4\) and \(3,\)"):
        cross_entropy(LOGITS, LABELS[0])
    with pytest.raises(ArgumentError, match="reduction='mean', 'sum' or 'none', got 'max'"):
        cross_entropy(LOGITS, LABELS, reduction="max")
    with pytest.raises(ArgumentError, match="the batch is empty"):
        cross_entropy(np.ones((0, 4)), np.ones(0, int))
    assert cross_entropy(np.ones((0, 4)), np.ones(0, int), reduction="sum").item() == 0
