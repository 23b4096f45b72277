"""Masks and biases of attention. A mask is boolean, True = attend. A bias is added to the scores.

Padding is one idea: every layer and every model of sequences takes ``key_mask``, True for tokens and False for padding
(:class:`Masks`). The functions here check it (:func:`as_key_mask`, and :func:`token_ids` for models), count positions by it
(:func:`token_positions`), and keep layers from reading what it excludes (:func:`without_padding`, :func:`without_unseen`).
"""

import functools
import operator
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from minigrad import DTypeError, MixedDevicesError, OutOfRangeError, ShapeError, Tensor, UnsupportedError
from minigrad.internal import (
    LOWEST,
    TensorLike,
    all_finite,
    array_of,
    as_bias,
    as_mask,
    check_range,
    is_device_array,
    where_is,
)

from ._checks import beside, check_kind, check_not_negative, given, id_matrix, plain
from .cache import KeyValueCache

Array = np.ndarray[Any, Any]
NAMES = ("key_mask", "mask", "bias")
AXES = {3: "(batch, query, key)", 4: "(batch, heads, query, key)"}  # the axes of the scores, by their number


class Masks(TypedDict, total=False):
    """The keyword options of every attention. They determine the keys to which each query attends.

    The scores are (batch, query, key), or (batch, heads, query, key) with several heads. A key that they exclude is not read,
    forward or backward: it may be NaN.

    Attributes:
        key_mask: (batch, key) booleans, or integers 0 and 1 as tokenizers return them. True or 1 marks a token, False or 0
            marks padding, which may stand on the left, on the right or between: a token gets the same result in each case, and
            positions count tokens only. None, the default, marks all. Results at padding mean nothing.
        mask: booleans, True = attend, with all axes of the scores, to which they broadcast, or with two axes, which always
            mean (query, key). Numbers raise a DTypeError.
        bias: numbers that are added to the scores, such as ALiBi's slopes or relative positions. Their shape must broadcast to
            that of the scores. A Tensor may require a gradient. A value of -1e30 or less, such as -inf, excludes the key.
        causal: whether query i sees only the keys at positions up to its own. If there are more keys than queries, the
            queries are at the last positions.
    """

    key_mask: "TensorLike | None"
    mask: "TensorLike | None"
    bias: "TensorLike | None"
    causal: bool


class AttentionOptions(Masks, total=False):
    """The keyword options of the attention layers.

    Attributes:
        cache: the :class:`nn.KeyValueCache` that earlier calls filled; :class:`nn.MultiHeadAttention` takes one.
    """

    cache: KeyValueCache | None


class DecoderMasks(Masks, total=False):
    """The masks of a :class:`nn.TransformerDecoderLayer`: those of its self-attention, and those of its attention to a memory.

    Attributes:
        memory_key_mask, memory_mask, memory_bias: the ``key_mask``, ``mask`` and ``bias`` of the attention to the memory.
    """

    memory_key_mask: "TensorLike | None"
    memory_mask: "TensorLike | None"
    memory_bias: "TensorLike | None"


_OPTIONS = Masks.__annotations__.keys()


def known(masks: Masks) -> Masks:
    """Return ``masks``.

    Raises:
        UnsupportedError: attention has no option of one of these names.
    """
    if not masks.keys() <= _OPTIONS:
        unknown = [f"{name}, got {type(value).__name__}" for name, value in masks.items() if name not in _OPTIONS]
        raise UnsupportedError(f"this attention has no option {'; '.join(unknown)}: there are {', '.join(_OPTIONS)}")
    return masks


def is_causal(masks: Masks) -> bool:
    """Return the option ``causal``, which must be True or False."""
    causal = masks.get("causal", False)
    if causal.__class__ is not bool:  # faster than the check itself, which every call would pay for
        check_kind("True or False", causal=causal)
    return causal


def causal_mask(query: int, key: int | None = None) -> Array:
    """Return (query, key) booleans with which each token sees itself and the tokens before it.

    Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3. With more keys than queries the queries are the last tokens of the
    sequence, as in decoding with a cache. By default there are as many keys as queries.

    Raises:
        ArgumentError: a length is not an integer >= 0.
        ShapeError: there are more queries than keys.

    Example:
        >>> import nn
        >>> nn.causal_mask(3).astype(int)
        array([[1, 0, 0],
               [1, 1, 0],
               [1, 1, 1]])
        >>> nn.causal_mask(1, 3)  # one new token, after two in a cache
        array([[ True,  True,  True]])
    """
    check_not_negative(query=query, **given(key=key))
    key = query if key is None else key
    if query > key:
        raise ShapeError(
            f"causal attention needs a key for each query, got {query} queries and {key} keys: leave out causal, and pass a "
            "mask (query, key)"
        )
    return np.tri(query, key, key - query, dtype=bool)


def window_mask(length: int, radius: int) -> Array:
    """Return (length, length) booleans with which each token sees the tokens at most ``radius`` positions away.

    It is a mask for local attention: Luong et al. 2015, arXiv:1508.04025, section 3.2.

    Raises:
        ArgumentError: length or radius is not an integer >= 0.

    Example:
        >>> import nn
        >>> nn.window_mask(4, 1).astype(int)
        array([[1, 1, 0, 0],
               [1, 1, 1, 0],
               [0, 1, 1, 1],
               [0, 0, 1, 1]])
    """
    check_not_negative(length=length, radius=radius)
    position = np.arange(length)
    return np.abs(position[:, None] - position) <= radius


def padding_mask(lengths: Sequence[int] | Array, length: int | None = None) -> Array:
    """Return a ``key_mask``: (batch, length) booleans, True for the first ``lengths[i]`` tokens of sequence i.

    Raises:
        ShapeError, DTypeError: ``lengths`` is not one row of integers.
        OutOfRangeError: a length is negative, or more than ``length`` (by default the largest of them).
        MixedDevicesError: ``lengths`` is on a device. This function copies nothing to the host.

    Example:
        >>> import nn
        >>> nn.padding_mask([1, 3])
        array([[ True, False, False],
               [ True,  True,  True]])
    """
    counts = plain(lengths, "lengths")
    if is_device_array(counts):
        raise MixedDevicesError(
            f"padding_mask makes its mask on the host, and lengths is {where_is(counts)}: pass "
            "minigrad.device.to_host(lengths); the layers copy the mask to the device of the model"
        )
    if counts.ndim != 1:
        raise ShapeError(f"lengths must be one row, (batch,), got shape {counts.shape}")
    if counts.size and counts.dtype.kind not in "iu":
        raise DTypeError(f"lengths must be integers, got dtype {counts.dtype}")
    longest = int(counts.max(initial=0))
    check_not_negative(**given(length=length))
    length = longest if length is None else length
    if longest > length or counts.min(initial=0) < 0:
        raise OutOfRangeError(f"lengths must lie in [0, {length}], got {counts.min()} to {longest}")
    return np.arange(length) < counts[:, None]


def token_positions(key_mask: Any) -> Any:
    """Return the position of each token among those that the ``key_mask`` (..., key) marks in its row, from 0.

    Padding on the left thus changes no token's position. Padding itself has the position that it would have without a mask.
    """
    columns = beside(np.arange(key_mask.shape[-1]), key_mask)
    return np.where(key_mask, key_mask.cumsum(axis=-1) - 1, columns)


def positions_of(x: Any, start: int, key_mask: "TensorLike") -> Any:
    """Return the :func:`token_positions` of x (batch, length, width), whose tokens follow ``start`` others in ``key_mask``."""
    if x.ndim != 3:
        raise ShapeError(f"a key_mask (batch, length) needs x of shape (batch, length, width), got {x.shape}")
    return token_positions(as_key_mask(key_mask, (x.shape[0], start + x.shape[1]), x.data))[:, start:]


def as_key_mask(key_mask: "TensorLike | None", shape: tuple[int, ...], like: Any, name: str = "key_mask") -> Any:
    """Return ``key_mask`` as booleans (batch, key) on the device of ``like``, or None. Error messages call it ``name``.

    Raises:
        DTypeError, OutOfRangeError, ShapeError: as in :func:`mask_and_bias`.
    """
    if key_mask is None:
        return None
    key_mask = plain(key_mask, name)
    if key_mask.dtype.kind not in "biu":
        raise DTypeError(
            f"{name} must be boolean, True = attend, or integers 0 and 1, got dtype {key_mask.dtype}: pass {name} != 0 for a "
            "0/1 mask"
        )
    if key_mask.dtype != bool:
        check_range(
            key_mask,
            2,
            lambda worst: OutOfRangeError(
                f"{name} of integers must hold 1 (attend) and 0 only, got {worst}: pass booleans, e.g. {name} != 0"
            ),
        )
        key_mask = key_mask != 0
    key_mask = beside(key_mask, like)
    if key_mask.shape != shape:
        raise ShapeError(f"{name} must have the shape (batch, key) = {shape}, got {key_mask.shape}")
    return key_mask


def token_ids(
    ids: "TensorLike",
    key_mask: "TensorLike | None",
    like: Any,
    model: str,
    what: str = "ids of shape (batch, length)",
    name: str = "key_mask",
) -> tuple[Any, Any]:
    """Return ids (batch, length), with 0 in place of padding, which no table then looks up, and :func:`as_key_mask`.

    ``like`` is an array on the device of the model. Error messages begin with ``model``, and say ``what`` it needs.
    """
    ids = id_matrix(ids, model, what)
    mask = as_key_mask(key_mask, ids.shape, like, name)
    return (ids if key_mask is None else ids_of_tokens(ids, key_mask, mask)), mask


def ids_of_tokens(ids: "TensorLike", key_mask: "TensorLike", mask: Any) -> Any:
    """Return ids with 0 at padding, on the host if they and ``key_mask`` are; ``mask`` is the same on the model's device."""
    ids, given = plain(ids, "ids"), plain(key_mask, "key_mask")
    on_host = not is_device_array(ids) and not is_device_array(given)
    return np.where(given != 0, ids, 0) if on_host else np.where(mask, beside(ids, mask), 0)


def mask_and_bias(
    shape: tuple[int, ...], like: Any, masks: Masks, names: tuple[str, str, str] = NAMES
) -> tuple[Any, Any]:
    """Combine all masks into one, and return it with the bias in the dtype of ``like``. Either is None if absent.

    Args:
        shape: the shape of the scores, (batch, query, key) or (batch, heads, query, key). Both results broadcast to it.
        like: an array or a Tensor. Arrays among the masks are copied to its device; a Tensor must be there already.
        masks: the options of the attention, as the user passed them.
        names: the user's names of key_mask, mask and bias, for the error messages.

    Raises:
        UnsupportedError: ``masks`` contains another option.
        DTypeError: ``mask`` is not boolean (0.0 could mean "add nothing" or "do not attend"), ``key_mask`` is floating, or
            ``bias`` is boolean or complex.
        OutOfRangeError: an integer ``key_mask`` contains values other than 0 and 1.
        ShapeError: a mask or the bias does not fit, or there are more causal queries than keys.
    """
    key_mask, mask, bias = known(masks).get("key_mask"), masks.get("mask"), masks.get("bias")
    causal = is_causal(masks) and shape[-2] != 1  # a single query is the last token, which sees all keys
    if key_mask is mask is bias is None and not causal:
        return None, None
    array = like.data if isinstance(like, Tensor) else like
    parts = []
    if key_mask is not None:
        spread = (shape[0], *[1] * (len(shape) - 2), shape[-1])
        parts.append(as_key_mask(key_mask, (shape[0], shape[-1]), array, names[0]).reshape(spread))
    if mask is not None:
        called = {"name": names[1], "key_mask": names[0], "bias": names[2]}
        parts.append(beside(as_mask(plain(mask, names[1]), shape, AXES[len(shape)], **called), array))
    if causal:
        parts.append(beside(causal_mask(*shape[-2:]), array))
    allowed = functools.reduce(operator.and_, parts) if parts else None
    return allowed, None if bias is None else _bias(bias, shape, array, names)


def _bias(bias: Any, shape: tuple[int, ...], array: Any, names: tuple[str, str, str]) -> Any:
    """Return the bias on the device and in the dtype of ``array``."""
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(float)
    bias = bias if isinstance(bias, Tensor) else beside(plain(bias, names[2]), array)
    bias = as_bias(bias, shape, dtype, AXES[len(shape)], name=names[2], mask=names[1])
    if bias.dtype == dtype:
        return bias
    with np.errstate(over="ignore"):  # -1e9 becomes -inf in float16, which also excludes the key
        return bias.astype(dtype)


def may_read(*tensors: Tensor) -> bool:
    """Return whether products with what a mask excludes are 0: all is finite. Programs assume it, and no device is asked."""
    array = array_of(tensors[0])
    return all_finite(*tensors) and (not is_device_array(array) or where_is(array) == "on paper")


def without_padding(x: Tensor, is_token: Any) -> Tensor:
    """Return x (batch, length, width) with 0 in place of NaN and infinite numbers at padding: 0 times them would be NaN.

    ``is_token`` is (batch, length), or broadcasts to it.
    """
    if may_read(x):
        return x
    found: Any = np.where(is_token[..., None] | np.isfinite(x), x, 0.0)
    return found


def without_unseen(
    inputs: tuple[Tensor, Tensor, Tensor], axes: int, allowed: Any, bias: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Return query, key and value :func:`without_padding`, where padding are the keys that no query attends to.

    The query is changed only if it is the key, as in self-attention. ``allowed`` and ``bias`` are those of
    :func:`mask_and_bias`, for scores with this number of ``axes``. They may also have keys before those of the inputs, which a
    cache holds.
    """
    query, key, value = inputs
    if allowed is bias is None or may_read(*((key,) if value is key else (key, value))):
        return inputs
    if bias is not None:
        added = ~(plain(bias, "bias") <= LOWEST)
        allowed = added if allowed is None else allowed & added
    allowed = allowed.reshape((1,) * (axes - allowed.ndim) + allowed.shape)
    seen = allowed.any(axis=tuple(range(1, axes - 1)))  # (batch or 1, all keys or 1)
    seen = seen[:, max(seen.shape[1] - key.shape[1], 0) :]
    read = without_padding(key, seen)
    return read if query is key else query, read, read if value is key else without_padding(value, seen)


def for_heads(value: Any) -> Any:
    """Insert the axis of heads into a mask or a bias (batch, query, key). Leave (query, key) and None unchanged."""
    return value if value is None or value.ndim < 3 else value[..., None, :, :]
