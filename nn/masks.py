"""Masks say who may look at whom: boolean, True = attend. A bias is added to the scores."""

import functools
import operator
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from minigrad import DTypeError, MixedDevicesError, OutOfRangeError, ShapeError, Tensor, UnsupportedError
from minigrad.internal import as_bias, as_mask, check_range, is_device_array, where_is

from ._checks import beside, check_not_negative, plain

Array = np.ndarray[Any, Any]
NAMES = ("key_mask", "mask", "bias")
AXES = {3: "(batch, query, key)", 4: "(batch, heads, query, key)"}  # of the scores, by their number


class Masks(TypedDict, total=False):
    """Who looks at whom: the options that every attention takes, by keyword.

    The scores are (batch, query, key), or with several heads (batch, heads, query, key).

    Attributes:
        key_mask: (batch, key) booleans, True = attend, or integers 0 and 1, as tokenizers give them: which keys are tokens
            and not padding.
        mask: booleans (query, key), or with all axes of the scores, to which they broadcast, True = attend. Two axes are
            always (query, key), whatever their lengths; numbers raise.
        bias: what is added to the scores, such as ALiBi's slopes or relative positions: numbers of any shape that broadcasts
            to theirs. A Tensor that requires a gradient gets one. What is -1e30 or less, such as -inf, excludes the key as a
            mask does.
        causal: query i sees the keys up to its own place. With more keys than queries, the queries are the last ones.
    """

    key_mask: Any
    mask: Any
    bias: Any
    causal: bool


_OPTIONS = Masks.__annotations__.keys()


def known(masks: Masks) -> Masks:
    """``masks`` themselves.

    Raises:
        UnsupportedError: there is an option among them that attention does not take.
    """
    if not masks.keys() <= _OPTIONS:
        unknown = ", ".join(sorted(masks.keys() - _OPTIONS))
        raise UnsupportedError(f"this attention has no option {unknown}: there are {', '.join(_OPTIONS)}")
    return masks


def causal_mask(query: int, key: int | None = None) -> Array:
    """(query, key) booleans: each token sees itself and what is before it. Vaswani et al. 2017, section 3.2.3.

    With more keys than queries the queries are the last tokens of the sequence, as in decoding with a cache.

    Raises:
        ArgumentError: a length is no integer, or negative.
        ShapeError: there are more queries than keys, so that some would come before the first key.

    Example:
        >>> import nn
        >>> nn.causal_mask(3).astype(int)
        array([[1, 0, 0],
               [1, 1, 0],
               [1, 1, 1]])
        >>> nn.causal_mask(1, 3)  # one new token behind two in a cache
        array([[ True,  True,  True]])
    """
    key = query if key is None else key
    check_not_negative(query=query, key=key)
    if query > key:
        raise ShapeError(
            f"causal attention needs a key for each query, got {query} queries and {key} keys: leave out causal, and say with "
            "mask (query, key) who sees whom"
        )
    return np.tri(query, key, key - query, dtype=bool)


def window_mask(length: int, radius: int) -> Array:
    """(length, length) booleans: each token sees the tokens at most ``radius`` places away (local attention: Luong et al. 2015,
    arXiv:1508.04025, section 3.2).

    Raises:
        ArgumentError: length or radius is no integer, or negative.

    Example:
        >>> import nn
        >>> nn.window_mask(4, 1).astype(int)
        array([[1, 1, 0, 0],
               [1, 1, 1, 0],
               [0, 1, 1, 1],
               [0, 0, 1, 1]])
    """
    check_not_negative(length=length, radius=radius)
    place = np.arange(length)
    return np.abs(place[:, None] - place) <= radius


def padding_mask(lengths: Sequence[int] | Array, length: int | None = None) -> Array:
    """(batch, length) booleans, True for the first ``lengths[i]`` tokens of sequence i: a ``key_mask``.

    Raises:
        ShapeError, DTypeError: ``lengths`` is not one row of integers.
        OutOfRangeError: one of them is negative, or more than ``length`` (by default the largest).
        MixedDevicesError: ``lengths`` is on a device: nothing is fetched by itself.

    Example:
        >>> import nn
        >>> nn.padding_mask([1, 3])
        array([[ True, False, False],
               [ True,  True,  True]])
    """
    counts = plain(lengths)
    if is_device_array(counts):
        raise MixedDevicesError(
            f"padding_mask makes its mask on the host, and lengths is {where_is(counts)}: pass "
            "minigrad.device.to_host(lengths); the layers take the mask to the model"
        )
    if counts.ndim != 1:
        raise ShapeError(f"lengths must be one row, (batch,), got shape {counts.shape}")
    if counts.size and counts.dtype.kind not in "iu":
        raise DTypeError(f"lengths must be integers, got dtype {counts.dtype}")
    longest = int(counts.max(initial=0))
    length = longest if length is None else length
    if longest > length or counts.min(initial=0) < 0:
        raise OutOfRangeError(f"lengths must lie in [0, {length}], got {counts.min()} to {longest}")
    return np.arange(length) < counts[:, None]


def as_key_mask(key_mask: Any, shape: tuple[int, ...], like: Any, name: str = "key_mask") -> Any:
    """``key_mask`` as booleans of the shape (batch, key), where ``like`` is; None stays None.

    For a function whose argument has another ``name``: what this gives raises no error further down.

    Raises:
        DTypeError, OutOfRangeError, ShapeError: as :func:`combined_mask`.
    """
    if key_mask is None:
        return None
    key_mask = _boolean(key_mask, name, like)
    if key_mask.shape != shape:
        raise ShapeError(f"{name} must have the shape (batch, key) = {shape}, got {key_mask.shape}")
    return key_mask


def mask_and_bias(
    shape: tuple[int, ...], like: Any, masks: Masks, names: tuple[str, str, str] = NAMES
) -> tuple[Any, Any]:
    """What attention of scores of this ``shape`` takes: :func:`combined_mask`, and ``bias`` in the dtype of the inputs.

    Args:
        like: one of the inputs, an array or a Tensor.
        masks: as there, and ``bias``: numbers of any shape that broadcasts to ``shape``. An array goes where the inputs are;
            a Tensor has to be there.
        names: as there.

    Raises:
        UnsupportedError: there is another option among ``masks``; what :func:`combined_mask` raises.
        DTypeError, ShapeError: bias is boolean or complex, or does not broadcast to ``shape``.
    """
    bias = known(masks).get("bias")
    key_mask, mask, causal = masks.get("key_mask"), masks.get("mask"), masks.get("causal", False)
    if bias is None and mask is None and key_mask is None and not (causal and shape[-2] != 1):
        return None, None
    array = like.data if isinstance(like, Tensor) else like
    allowed = combined_mask(shape, array, key_mask=key_mask, mask=mask, causal=causal, names=names)
    if bias is None:
        return allowed, None
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(float)
    bias = bias if isinstance(bias, Tensor) else beside(plain(bias), array)
    bias = as_bias(bias, shape, dtype, AXES[len(shape)], name=names[2], mask=names[1])
    if bias.dtype == dtype:
        return allowed, bias
    with np.errstate(over="ignore"):  # float16 has no -1e9: as -inf it says the same
        return allowed, bias.astype(dtype)


def for_heads(value: Any) -> Any:
    """A mask or a bias of scores (batch, query, key), or None, as one of scores that have an axis of heads, too."""
    return value if value is None or value.ndim < 3 else value[..., None, :, :]


def combined_mask(
    shape: tuple[int, ...],
    like: Any,
    *,
    key_mask: Any = None,
    mask: Any = None,
    causal: bool = False,
    names: tuple[str, str, str] = NAMES,
) -> Any:
    """What ``key_mask``, ``mask`` and ``causal`` all allow: booleans that broadcast to ``shape``, or None for everything.

    Args:
        shape: of the scores, (batch, query, key) or (batch, heads, query, key).
        like: an array of the inputs; the mask goes where it is.
        key_mask: (batch, key) booleans, or integers 0 and 1.
        mask: booleans (query, key), or with as many axes as ``shape``, to which they broadcast. Two axes are always
            (query, key), whatever their lengths.
        causal: whether each query sees the keys up to its own place only (:func:`causal_mask`).
        names: what the caller calls the two masks, and the bias beside them.

    Raises:
        DTypeError: ``mask`` is not boolean (0.0 could mean "add nothing" as well as "do not look"), or ``key_mask`` is
            floating.
        OutOfRangeError: an integer ``key_mask`` has other values than 0 and 1.
        ShapeError: a mask does not fit, or causal queries are more than the keys.
    """
    parts = []
    if key_mask is not None:
        spread = (shape[0], *[1] * (len(shape) - 2), shape[-1])
        parts.append(as_key_mask(key_mask, (shape[0], shape[-1]), like, names[0]).reshape(spread))
    if mask is not None:
        given = {"name": names[1], "key_mask": names[0], "bias": names[2]}
        parts.append(beside(as_mask(plain(mask), shape, AXES[len(shape)], **given), like))
    if causal and shape[-2] != 1:  # one query is the last token, which sees all: the step of decoding with a cache
        parts.append(beside(causal_mask(*shape[-2:]), like))
    return functools.reduce(operator.and_, parts) if parts else None


def _boolean(mask: Any, name: str, like: Any) -> Any:
    mask = plain(mask)
    if mask.dtype == bool:
        return beside(mask, like)
    if mask.dtype.kind not in "iu":
        raise DTypeError(
            f"{name} must be boolean, True = attend, or integers 0 and 1, got dtype {mask.dtype}: pass {name} != 0 for a 0/1 "
            "mask"
        )
    check_range(
        mask,
        2,
        lambda worst: OutOfRangeError(
            f"{name} of integers must hold 1 (attend) and 0 only, got {worst}: pass booleans, e.g. {name} != 0"
        ),
    )
    return beside(mask != 0, like)
