"""The stateless functions against PyTorch's, forward and gradients."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, check_grads, reference_mode
from nn import functional
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_equals_pytorch, assert_same, randomized, rng, to_torch, twins

theirs = torch.nn.functional

X = rng().standard_normal((2, 3, 5)) * 3
FUNCTIONS = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "relu": theirs.relu,
    "gelu": theirs.gelu,
    "sigmoid": torch.sigmoid,
    "silu": theirs.silu,
}


WEIGHT, BIAS = rng(1).standard_normal((2, 5))
OTHERS: dict[str, Any] = {
    "logsumexp": ([X], lambda x: functional.logsumexp(x, axis=1), lambda x: torch.logsumexp(x, 1)),
    "layer_norm": (
        [X, WEIGHT, BIAS],
        lambda x, w, b: functional.layer_norm(x, w, b, eps=0.1),
        lambda x, w, b: theirs.layer_norm(x, (5,), w, b, 0.1),
    ),
    "rms_norm": (
        [X, WEIGHT],
        lambda x, w: functional.rms_norm(x, w, eps=0.1),
        lambda x, w: theirs.rms_norm(x, (5,), w, 0.1),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_pytorch(name) -> None:
    assert_equals_pytorch(getattr(functional, name), FUNCTIONS[name], X)


@pytest.mark.parametrize("name", OTHERS)
def test_of_several_arguments_equals_pytorch(name) -> None:
    arrays, ours, expected = OTHERS[name]
    assert_equals_pytorch(ours, expected, *arrays)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sigmoid_and_silu_neither_overflow_nor_lose_small_values(dtype) -> None:
    """Warnings are errors here. exp(-10) is what sigmoid(-10) is about, to the precision of the dtype."""
    x = np.array([-1e4, -10.0, 0.0, 10.0, 1e4], dtype)
    tensor = Tensor(x, requires_grad=True)
    y = functional.sigmoid(tensor)
    y.sum().backward()
    assert y.dtype == dtype and tensor.grad is not None
    small = 1 / (1 + np.exp(10.0))
    np.testing.assert_allclose(y.numpy(), [0, small, 0.5, 1 - small, 1], rtol=2 * np.finfo(dtype).eps)
    np.testing.assert_allclose(tensor.grad.numpy()[[0, 2, 4]], [0, 0.25, 0])
    silu = functional.silu(x)
    np.testing.assert_allclose(silu, [0, -10 * small, 0, 10 - 10 * small, 1e4], rtol=2 * np.finfo(dtype).eps)
    assert silu.dtype == dtype
    assert functional.sigmoid(np.array([-np.inf, np.inf, 0], dtype)).tolist() == [0, 1, 0.5]
    assert np.isnan(functional.sigmoid(np.array([np.nan], dtype))).all()


@pytest.mark.parametrize("name", [*FUNCTIONS, "logsumexp"])
def test_arrays_give_arrays_of_their_dtype(name) -> None:
    y = getattr(functional, name)(X.astype(np.float32))
    assert isinstance(y, np.ndarray | np.float32) and y.dtype == np.float32


# --- attention ---

attend: Any = functional.scaled_dot_product_attention
torch_attend = theirs.scaled_dot_product_attention


def qkv(*axes: int) -> list[np.ndarray]:
    generator = rng(2)
    return [generator.standard_normal((*axes, *shape)) for shape in ((4, 3), (6, 3), (6, 2))]


@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize("mask", [None, (4, 6), "all axes"])
@pytest.mark.parametrize("axes", [(), (2,), (2, 3)])
def test_attention_equals_pytorch(axes, mask, scale) -> None:
    arrays = qkv(*axes)
    if mask is not None:
        mask = rng(3).random((*axes, 4, 6) if mask == "all axes" else mask) < 0.6
        mask[..., 0] = True  # PyTorch gives NaN for a query with no key
    tensors, torch_tensors = twins(*arrays)
    y = attend(*tensors, mask, scale=scale)
    torch_mask = None if mask is None else to_torch(mask)
    torch_y = torch_attend(*torch_tensors, attn_mask=torch_mask, scale=scale)
    assert_same([y, *tensors], [torch_y, *torch_tensors])


def test_a_key_mask_is_a_mask_for_all_queries() -> None:
    arrays, tokens = qkv(2), np.array([[1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0]])
    expected = attend(*arrays, np.broadcast_to(tokens[:, None] != 0, (2, 4, 6)))
    for key_mask in (tokens, tokens != 0):
        np.testing.assert_array_equal(attend(*arrays, key_mask=key_mask), expected)


def test_a_query_with_no_key_gives_zeros() -> None:
    mask = np.ones((4, 6), bool)
    mask[1] = False
    tensors = [Tensor(a, requires_grad=True) for a in qkv(2)]
    y = attend(*tensors, mask)
    y.sum().backward()
    assert not y.numpy()[:, 1].any() and y.numpy()[:, 0].any()
    assert all(t.grad is not None and np.isfinite(t.grad.numpy()).all() for t in tensors)


def test_attention_gradients() -> None:
    mask = np.tri(4, 6, 1, dtype=bool)
    check_grads(lambda *t: attend(*t, mask), qkv(2))


def test_attention_on_a_device_with_a_mask_from_the_host(put) -> None:
    arrays, mask = qkv(2), np.tri(4, 6, dtype=bool)
    y = attend(*(Tensor(put(a)) for a in arrays), mask)
    assert type(y.data) is type(put(X))
    assert_close(y.numpy(), attend(*arrays, mask))


@pytest.mark.parametrize(
    ("shapes", "mask", "error", "words"),
    [
        (((4, 3), (6, 2), (6, 2)), None, ShapeError, r"got \(4, 3\), \(6, 2\), \(6, 2\)"),
        (((4, 3), (6, 3), (5, 2)), None, ShapeError, "attention needs q"),
        (((3,), (6, 3), (6, 2)), None, ShapeError, "attention needs q"),
        (((2, 4, 3), (6, 3), (6, 2)), None, ShapeError, "attention needs q"),
        (((4, 3), (6, 3), (6, 2)), np.ones((4, 6)), DTypeError, "must be boolean"),
        (((4, 3), (6, 3), (6, 2)), np.ones((4, 6), int), DTypeError, "must be boolean, .* got dtype int64"),
        (((4, 3), (6, 3), (6, 2)), np.ones((6, 4), bool), ShapeError, r"got \(6, 4\)"),
        (
            ((2, 4, 3), (2, 6, 3), (2, 6, 2)),
            np.ones((2, 6), bool),
            ShapeError,
            r"got \(2, 6\): .* pass key_mask= to say",
        ),
    ],
)
def test_attention_names_what_does_not_fit(shapes, mask, error, words) -> None:
    with pytest.raises(error, match=words):
        attend(*map(np.ones, shapes), mask)


# --- one_hot ---


def test_one_hot() -> None:
    ids = np.array([[2, 0], [1, 2]])
    rows = functional.one_hot(ids, 3, dtype=np.float64)
    np.testing.assert_array_equal(rows, theirs.one_hot(to_torch(ids), 3).numpy())
    assert functional.one_hot([1], 2).dtype == np.float32 and functional.one_hot(Tensor(ids), 3).shape == (2, 2, 3)
    with pytest.raises(DTypeError, match="integer ids, got dtype float64"):
        functional.one_hot([1.0], 3)
    for bad in (3, -1):
        with pytest.raises(OutOfRangeError, match=f"the id {bad}, but its vocabulary has 3 ids: 0 to 2"):
            functional.one_hot([bad], 3)


@pytest.mark.parametrize("axes", [(), (2,), (2, 4)], ids=["one", "batch", "heads"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_weights_are_those_of_the_attention(axes, causal) -> None:
    q, k, v = (rng(i).standard_normal((*axes, n, 5)) for i, n in enumerate((2, 3, 3)))
    key_mask = np.array([[1, 1, 0], [1, 0, 1]])[: axes[0] if axes else 1]
    matrix = np.array([[True, False, True], [False, False, False]])
    for given in ({}, {"key_mask": key_mask}, {"mask": matrix, "bias": rng(4).standard_normal((2, 3))}):
        masks: Any = {**given, "scale": 0.3, "causal": causal}
        weights = functional.attention_weights(Tensor(q, requires_grad=True), k, **masks)
        assert weights.shape == (*axes, 2, 3) and weights.requires_grad
        assert_close(weights.numpy() @ v, functional.scaled_dot_product_attention(q, k, v, **masks))
        assert_close(functional.attention_weights(q, k, **masks), weights.numpy())
        if causal:
            assert not weights.numpy()[..., 0, 2].any()


def test_shapes_of_attention_and_rms_norm_are_checked() -> None:
    q, k, v = (np.zeros((n, 3, 5)) for n in (2, 3, 2))
    with pytest.raises(ShapeError, match=r"with the same leading axes, got \(2, 3, 5\), \(3, 3, 5\), \(2, 3, 5\)"):
        functional.scaled_dot_product_attention(q, k, v)
    with pytest.raises(ShapeError, match=r"k \(..., key, d\), with the same leading axes, got"):
        functional.attention_weights(q, k)
    with pytest.raises(ShapeError, match=r"weight \(d,\), got \(2, 3, 5\) and \(4,\)"):
        functional.rms_norm(q, np.ones(4))
    assert_close(functional.rms_norm([[3.0, 4.0]], [1.0, 1.0], eps=0.0), np.array([[3, 4]]) / np.sqrt(12.5))


def test_no_keys_and_no_queries() -> None:
    """A query with no key to attend to gets zeros, as one whose keys are all masked; the kernel and the reference alike."""
    for kernels in (nullcontext(), reference_mode()):
        with kernels:
            for queries, keys in ((3, 0), (0, 4), (0, 0)):
                q, k, v = (Tensor(np.ones((2, n, 5)), requires_grad=True) for n in (queries, keys, keys))
                for mask in (None, np.ones((queries, keys), bool)):
                    y = functional.scaled_dot_product_attention(q, k, v, mask)
                    np.testing.assert_array_equal(y.numpy(), np.zeros((2, queries, 5)))
                    assert functional.attention_weights(q, k, mask).shape == (2, queries, keys)
                    y.sum().backward()
                    assert q.grad is not None and not q.grad.numpy().any()
            for function in (functional.softmax, functional.log_softmax):
                x = Tensor(np.zeros((2, 0)), requires_grad=True)
                function(x).sum().backward()
                assert function(x).shape == (2, 0) and function(np.zeros((0, 3))).shape == (0, 3)


def test_the_slope_of_silu_far_out() -> None:
    """No difference of large numbers takes it to 0."""
    x = Tensor([1e30, 1e4, -1e4, -1e30], requires_grad=True)
    functional.silu(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1, 0, 0]


F, IDS = functional, np.array([[0, 2], [1, 1]])
IMAGES, SIGNALS = rng(3).standard_normal((2, 4, 7, 6)), rng(4).standard_normal((2, 4, 9))
TWINS: dict[str, Any] = {  # a layer, its input, and the function of the input and the layer's parameters
    "affine": (nn.Affine(5, 3, rng=rng()), X, lambda x, w, b: F.affine(x, w, b)),
    "embedding": (nn.Embedding(3, 4, rng=rng()), IDS, lambda x, w: F.embedding(x, w)),
    "layer_norm": (nn.LayerNorm(5), X, lambda x, w, b: F.layer_norm(x, w, b, eps=1e-5)),
    "rms_norm": (nn.RMSNorm(5), X, lambda x, w: F.rms_norm(x, w)),
    "batch_norm": (nn.BatchNorm(4), IMAGES, lambda x, w, b: F.batch_norm(x, w, b)),
    "group_norm": (nn.GroupNorm(2, 4), IMAGES, lambda x, w, b: F.group_norm(x, 2, w, b)),
    "conv1d": (
        nn.Conv1d(4, 6, 3, rng=rng(), padding="same", groups=2),
        SIGNALS,
        lambda x, w, b: F.conv1d(x, w, b, padding="same", groups=2),
    ),
    "conv2d": (
        nn.Conv2d(4, 6, 3, rng=rng(), stride=2, padding=(1, 0), dilation=2),
        IMAGES,
        lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=(1, 0), dilation=2),
    ),
    "conv_transpose2d": (
        nn.ConvTranspose2d(4, 6, 2, rng=rng(), stride=2, output_padding=1),
        IMAGES,
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, output_padding=1),
    ),
    "max_pool1d": (nn.MaxPool1d(2), SIGNALS, lambda x: F.max_pool1d(x, 2)),
    "max_pool2d": (nn.MaxPool2d(3, stride=2), IMAGES, lambda x: F.max_pool2d(x, 3, stride=2)),
    "avg_pool1d": (nn.AvgPool1d(2), SIGNALS, lambda x: F.avg_pool1d(x, 2)),
    "avg_pool2d": (nn.AvgPool2d(2, padding=1), IMAGES, lambda x: F.avg_pool2d(x, 2, padding=1)),
    "dropout": (nn.Dropout(0.5, rng=rng()), X, lambda x: F.dropout(x, 0.5, rng=rng())),
}


@pytest.mark.parametrize("name", TWINS)
def test_the_function_of_a_layer_gives_its_bits_and_gradients(name) -> None:
    layer, x, function = TWINS[name]
    layer = randomized(layer.astype(np.float64))
    x = x if name == "embedding" else Tensor(x, requires_grad=True)
    found = []
    for compute in (layer, lambda x: function(x, *layer.parameters())):
        y = compute(x)
        layer.zero_grad()
        if isinstance(x, Tensor):
            x.zero_grad()
        (y * y).sum().backward()
        found.append([y, *[p.grad for p in layer.parameters()], *([x.grad] if isinstance(x, Tensor) else [])])
    for ours, twin in zip(*found, strict=True):
        np.testing.assert_array_equal(ours.numpy(), twin.numpy())


@pytest.mark.parametrize("name", TWINS)
def test_a_function_of_plain_arrays_gives_the_same_numbers(name) -> None:
    layer, x, function = TWINS[name]
    layer = layer.astype(np.float64)
    found = function(x, *[parameter.data for parameter in layer.parameters()])
    np.testing.assert_array_equal(np.asarray(found), function(x, *layer.parameters()).numpy())


def test_the_losses_of_nn_are_there_too() -> None:
    losses = {name for name in nn.__all__ if name.endswith("_loss") or name in {"cross_entropy", "kl_divergence"}}
    losses |= {name for name in nn.__all__ if name.startswith("binary") or name.endswith(("_error", "likelihood"))}
    assert len(losses) == 9 and all(getattr(functional, name) is getattr(nn, name) for name in losses)


def test_functions_of_layers_refuse_bad_input() -> None:
    for make, message in (
        (lambda: F.conv2d(IMAGES, np.ones((6, 3, 3, 3))), r"conv2d needs x of shape \(batch, 3, height, width\), got"),
        (lambda: F.conv2d(IMAGES, np.ones((6, 4, 3))), "conv2d needs a weight with 4 axes, got"),
        (lambda: F.conv1d(SIGNALS, np.ones((6, 4, 11))), r"conv1d got x of shape \(2, 4, 9\), which is smaller"),
        (lambda: F.group_norm(IMAGES, 3, np.ones(4), np.ones(4)), "group_norm: num_groups=3 must divide 4 channels"),
        (
            lambda: F.batch_norm(IMAGES, np.ones(3), np.ones(3)),
            r"batch_norm needs weight and bias of shape \(4,\), got",
        ),
        (
            lambda: F.batch_norm(np.ones((1, 4)), np.ones(4), np.ones(4)),
            r"more than one value .* got x of shape \(1, 4\)",
        ),
        (lambda: F.max_pool2d(IMAGES, 9), "smaller than a window"),
        (
            lambda: F.conv2d(IMAGES, np.ones((6, 2, 3, 3)), np.zeros(1), groups=2),
            r"conv2d needs a bias of shape \(6,\)",
        ),
        (lambda: F.conv2d(IMAGES, np.ones((5, 2, 3, 3)), groups=2), "conv2d: groups=2 must divide the first axis"),
        (
            lambda: F.conv_transpose2d(IMAGES, np.ones((4, 6, 2, 2)), groups=0),
            "groups must be a positive integer, got 0",
        ),
    ):
        with pytest.raises((ShapeError, ArgumentError), match=message):
            make()


def test_segment_sum_is_pytorchs_index_add_and_has_two_derivatives() -> None:
    values, segments = rng(5).standard_normal((6, 3)), np.array([2, 0, 2, 2, 4, 0])
    x, torch_x = Tensor(values, requires_grad=True), to_torch(values, True)
    ours, expected = F.segment_sum(x, segments, 5), torch.zeros(5, 3, dtype=torch.float64)
    expected = expected.index_add(0, to_torch(segments), torch_x)
    assert_same([ours, x], [expected, torch_x])
    check_grads(lambda x: F.segment_sum(np.sin(x), segments, 5) ** 2, (values,), order=2)
    assert type(F.segment_sum(values, segments, 5)) is np.ndarray
    for ones in (np.ones(3, bool), np.full(3, 200, np.uint8), np.full(3, 100, np.int8)):  # these sums do not fit
        sums = F.segment_sum(ones, [0, 0, 1], 2)
        assert sums.dtype == ones.sum().dtype and sums.tolist() == [2 * int(ones[0]), int(ones[0])]
    for bad, error, message in (
        ((values, [0, 1, 5, 0, 0, 0], 5), OutOfRangeError, "segment_sum got the segment 5, and they are 0 to 4"),
        ((values, [0.0] * 6, 5), DTypeError, "segment_sum takes integer segments, got dtype float64"),
        ((values, [0, 1], 5), ShapeError, r"a segment for each row of values \(6, 3\), got \(2,\)"),
        ((values, segments, 0), ArgumentError, "num_segments"),
    ):
        with pytest.raises(error, match=message):
            F.segment_sum(*bad)
