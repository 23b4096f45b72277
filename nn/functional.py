"""Functions of arrays or Tensors, without parameters.

Most of them are functions of minigrad, which return an array if all arguments are arrays.

Example:
    >>> import numpy as np
    >>> import nn.functional as F
    >>> F.softmax(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    >>> F.one_hot([2, 0], 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
"""

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

import minigrad
from minigrad import (
    DTypeError,
    OutOfRangeError,
    ShapeError,
    Tensor,
    affine,
    gelu,
    layer_norm,
    log_softmax,
    logsumexp,
    relu,
    sigmoid,
    silu,
    softmax,
)
from minigrad.internal import Array, attention_weights as weights_of, check_range, scatter_add

from ._checks import Size, as_given, as_ids, check_dtype, check_interval, check_positive, given, plain
from .convolution import conv1d, conv2d, conv_transpose2d
from .distances import cosine_loss, hinge_loss, huber_loss, kl_divergence
from .dropout import Dropout
from .embedding import embedding
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    mean_squared_error,
    negative_log_likelihood,
)
from .masks import Masks, for_heads, mask_and_bias
from .normalization import batch_norm, group_norm, rms_norm
from .pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d

if TYPE_CHECKING:
    from minigrad.internal import TensorLike

    from .module import DType

__all__ = [
    "affine", "embedding", "one_hot", "segment_sum", "dropout", "scaled_dot_product_attention", "attention_weights",
    "relu", "gelu", "sigmoid", "silu", "softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm", "batch_norm",
    "group_norm",
    "conv1d", "conv2d", "conv_transpose2d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d",
    "cross_entropy", "negative_log_likelihood", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "mean_squared_error", "huber_loss", "kl_divergence", "cosine_loss", "hinge_loss",
]  # fmt: skip


def scaled_dot_product_attention(
    q: "TensorLike",
    k: "TensorLike",
    v: "TensorLike",
    mask: "TensorLike | None" = None,
    *,
    key_mask: "TensorLike | None" = None,
    bias: "TensorLike | None" = None,
    scale: float | None = None,
    causal: bool = False,
) -> Any:
    """Return ``softmax(q k^T * scale + bias) v``. Vaswani et al. 2017, arXiv:1706.03762, eq. 1.

    Args:
        q: (query, d), (batch, query, d) or (batch, heads, query, d).
        k: (..., key, d), with the same leading axes as q.
        v: (..., key, e), with the same leading axes as q.
        mask, key_mask, bias, causal: see :class:`nn.masks.Masks`; the scores are (..., query, key). If q has no batch axis,
            key_mask is (1, key). If every key of a query is masked, its row of the result is 0.
        scale: a factor of the scores, ``1 / sqrt(d)`` by default; 1.0 leaves the dot products unscaled.

    Returns:
        (..., query, e)

    Raises:
        ShapeError: the shapes do not fit together.
        DTypeError, OutOfRangeError: mask is not boolean, key_mask is neither boolean nor 0/1, or bias is boolean.
    """
    check_interval(-np.inf, np.inf, **given(scale=scale))
    q, k, v = _operands("k (..., key, d) and v (..., key, e)", q, k, v)
    masks = _masks(q, k, key_mask=key_mask, mask=mask, bias=bias, causal=causal)
    # minigrad's function expects masks with an axis of heads before the queries
    return minigrad.scaled_dot_product_attention(q, k, v, *map(for_heads, masks), scale=scale)


def attention_weights(
    q: "TensorLike",
    k: "TensorLike",
    mask: "TensorLike | None" = None,
    *,
    key_mask: "TensorLike | None" = None,
    bias: "TensorLike | None" = None,
    scale: float | None = None,
    causal: bool = False,
) -> Any:
    """Return ``softmax(q k^T * scale + bias)``, the weights that :func:`scaled_dot_product_attention` multiplies by v.

    The arguments and the errors are the same. The result is (..., query, key). Each row sums to 1, or to 0 if every key is
    masked.
    """
    check_interval(-np.inf, np.inf, **given(scale=scale))
    q, k = _operands("k (..., key, d)", q, k)
    allowed, added = _masks(q, k, key_mask=key_mask, mask=mask, bias=bias, causal=causal)
    return weights_of(q, k, allowed, added, scale)


def _operands(others: str, *values: Any) -> list[Any]:
    """Return q, k and perhaps v as arrays or Tensors, or raise a ShapeError if they do not fit together."""
    q, *kv = operands = [as_given(value, name) for name, value in zip("qkv", values)]
    k = kv[0]
    fit = 2 <= q.ndim <= 4 and all(t.shape[:-2] == q.shape[:-2] and t.ndim == q.ndim for t in kv)
    if not fit or q.shape[-1] != k.shape[-1] or kv[-1].shape[-2] != k.shape[-2]:
        got = ", ".join(str(t.shape) for t in operands)
        raise ShapeError(f"attention needs q (..., query, d), {others}, with the same leading axes, got {got}")
    return operands


def _masks(q: Array, k: Array, **masks: Unpack[Masks]) -> list[Any]:
    """Return the mask and the bias, without the batch axis if q has none."""
    found = mask_and_bias((*(q.shape[:-2] or (1,)), q.shape[-2], k.shape[-2]), q, masks)
    return [one[0] if one is not None and one.ndim > q.ndim else one for one in found]


def dropout(x: "TensorLike", p: float, *, rng: np.random.Generator) -> Tensor:
    """Return x with each element set to 0 with probability p, and the others divided by ``1 - p``; see :class:`nn.Dropout`."""
    return Dropout(p, rng=rng)(x)


def max_pool1d(
    x: "TensorLike", kernel_size: int, *, stride: int | None = None, padding: int = 0, ceil_mode: bool = False
) -> Tensor:
    """Return the largest element of each window of sequences (batch, channels, length); see :class:`nn.MaxPool1d`."""
    return MaxPool1d(kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode)(x)


def max_pool2d(
    x: "TensorLike", kernel_size: Size, *, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False
) -> Tensor:
    """Return the largest element of each window of images (batch, channels, height, width); see :class:`nn.MaxPool2d`."""
    return MaxPool2d(kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode)(x)


def avg_pool1d(
    x: "TensorLike",
    kernel_size: int,
    *,
    stride: int | None = None,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of sequences (batch, channels, length); see :class:`nn.AvgPool1d`."""
    return AvgPool1d(
        kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad
    )(x)


def avg_pool2d(
    x: "TensorLike",
    kernel_size: Size,
    *,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of images (batch, channels, height, width); see :class:`nn.AvgPool2d`."""
    return AvgPool2d(
        kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad
    )(x)


def segment_sum(values: "TensorLike", segments: "TensorLike", num_segments: int) -> Any:
    """Return the sum of the rows of each segment: row i of the result is the sum of the values whose segment is i.

    It is ``jax.ops.segment_sum``, and PyTorch's ``zeros.index_add(0, segments, values)`` without a buffer of zeros. The
    messages that arrive at the nodes of a graph are ``segment_sum(messages, targets, num_nodes)``.

    Shapes: values (n, ...), segments (n,) integers in [0, num_segments) -> (num_segments, ...). Booleans and integers are
    summed in 64 bits, as ``np.sum`` does.

    Raises:
        ArgumentError: num_segments is not a positive integer.
        DTypeError, OutOfRangeError: segments are not integers in [0, num_segments).
        ShapeError: segments has not one number for each row of values.

    Example:
        >>> import nn.functional as F
        >>> F.segment_sum([[1.0], [2.0], [3.0]], [0, 2, 0], 3).tolist()
        [[4.0], [0.0], [2.0]]
    """
    check_positive(num_segments=num_segments)
    rows, ids = as_given(values, "values"), plain(segments, "segments")
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"segment_sum takes integer segments, got dtype {ids.dtype}: pass segments.astype(int)")
    last = num_segments - 1
    check_range(
        ids, num_segments, lambda i: OutOfRangeError(f"segment_sum got the segment {i}, and they are 0 to {last}")
    )
    if not rows.ndim or ids.shape != rows.shape[:1]:
        raise ShapeError(f"segment_sum needs a segment for each row of values {rows.shape}, got {ids.shape}")
    if rows.dtype.kind in "biu":  # True + True is 2, and 200 + 200 is not 144
        rows = rows.astype(np.uint64 if rows.dtype.kind == "u" else np.int64)
    return scatter_add(rows, index=ids, shape=(num_segments, *rows.shape[1:]))


def one_hot(ids: "TensorLike", num_classes: int, *, dtype: "DType" = np.float32) -> Any:
    """Return a row for each id, which is 1 at index ``id`` and 0 elsewhere: integers (...) -> (..., num_classes).

    Raises:
        DTypeError: ids are not integers.
        OutOfRangeError: an id is not in [0, num_classes).
    """
    check_positive(num_classes=num_classes)
    check_dtype(dtype, "biufc")
    ids = plain(as_ids(ids, num_classes, "one_hot"), "ids")
    return (ids[..., None] == np.arange(num_classes, like=ids)).astype(dtype)


if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

    def __getattr__(name: str) -> object:
        from minigrad.internal import missing

        raise missing(__name__, name)
