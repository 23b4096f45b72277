"""Masks: what each says, how they combine, and what is refused."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, UnsupportedError
from minigrad.errors import MixedDevicesError
from nn import causal_mask, padding_mask, window_mask
from nn.masks import NAMES, Masks, as_key_mask, mask_and_bias
from tests.fake_device import host_syncs

LIKE = np.zeros(())
HALF: Any = 2.5
THREE, FOUR = (2, 3, 4), (2, 5, 3, 4)  # (batch, query, key), (batch, heads, query, key)
KEY = np.array([[True, True, True, False], [True, False, False, False]])
MATRIX = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])


def combined_mask(shape, like, names=NAMES, **masks):
    given: Any = masks
    allowed, bias = mask_and_bias(shape, like, given, names)
    assert bias is None
    return allowed


def combined(shape, **masks):
    """The combined mask, written out to the whole shape."""
    return np.broadcast_to(combined_mask(shape, LIKE, **masks), shape)


def test_causal_mask() -> None:
    np.testing.assert_array_equal(causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert causal_mask(3).dtype == bool


def test_causal_queries_are_the_last_tokens() -> None:
    np.testing.assert_array_equal(causal_mask(2, 4), [[1, 1, 1, 0], [1, 1, 1, 1]])
    np.testing.assert_array_equal(causal_mask(5)[3:], causal_mask(2, 5))
    assert causal_mask(1, 4).all()


def test_window_mask() -> None:
    np.testing.assert_array_equal(window_mask(4, 1), [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    np.testing.assert_array_equal(window_mask(3, 0), np.eye(3))
    assert window_mask(3, 2).all() and window_mask(3, 2).dtype == bool
    with pytest.raises(ArgumentError, match="radius must be an integer, 0 or more, got -1"):
        window_mask(3, -1)


def test_padding_mask() -> None:
    np.testing.assert_array_equal(padding_mask([2, 0, 3]), [[1, 1, 0], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(padding_mask(np.array([1, 2]), 4), [[1, 0, 0, 0], [1, 1, 0, 0]])
    assert padding_mask([]).shape == (0, 0) and padding_mask([1]).dtype == bool


@pytest.mark.parametrize(
    ("lengths", "length", "error", "words"),
    [
        ([1, 5], 4, OutOfRangeError, r"lengths must lie in \[0, 4\], got 1 to 5"),
        ([1, -2], None, OutOfRangeError, r"lengths must lie in \[0, 1\], got -2 to 1"),
        ([[1, 2]], None, ShapeError, r"\(batch,\), got shape \(1, 2\)"),
        ([1.0], None, DTypeError, "lengths must be integers, got dtype float64"),
    ],
)
def test_lengths_that_are_none_raise(lengths, length, error, words) -> None:
    with pytest.raises(error, match=words):
        padding_mask(lengths, length)


def test_lengths_on_a_device_are_not_fetched_by_themselves(put) -> None:
    lengths = put(np.array([2, 0]))
    with pytest.raises(
        MixedDevicesError, match=r"lengths is on (fake|cuda):0: pass minigrad\.device\.to_host\(lengths\)"
    ):
        padding_mask(lengths, 3)


def test_no_mask_is_none() -> None:
    assert combined_mask(FOUR, LIKE) is None


def test_one_causal_query_needs_no_mask() -> None:
    """The step of decoding with a cache."""
    assert combined_mask((2, 5, 1, 4), LIKE, causal=True) is None
    np.testing.assert_array_equal(combined((2, 5, 1, 4), causal=True, key_mask=KEY)[:, 0, 0], KEY)


@pytest.mark.parametrize("shape", [THREE, FOUR])
def test_each_alone(shape) -> None:
    key = KEY[:, None] if shape == THREE else KEY[:, None, None]
    np.testing.assert_array_equal(combined(shape, key_mask=KEY), np.broadcast_to(key, shape))
    np.testing.assert_array_equal(combined(shape, mask=MATRIX), np.broadcast_to(MATRIX, shape))
    np.testing.assert_array_equal(combined(shape, causal=True), np.broadcast_to(np.tri(3, 4, 1), shape))
    full = np.random.default_rng(0).random(shape) < 0.5
    np.testing.assert_array_equal(combined(shape, mask=full), full)


@pytest.mark.parametrize("shape", [THREE, FOUR])
def test_together_they_allow_what_all_allow(shape) -> None:
    got = combined(shape, key_mask=KEY, mask=MATRIX, causal=True)
    for place in np.ndindex(shape):
        batch, query, key = place[0], place[-2], place[-1]
        assert got[place] == (KEY[batch, key] and MATRIX[query, key] and key <= query + 1)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8])
def test_a_key_mask_may_hold_integers_zero_and_one(dtype) -> None:
    """As tokenizers give them."""
    np.testing.assert_array_equal(combined(FOUR, key_mask=KEY.astype(dtype)), combined(FOUR, key_mask=KEY))


def test_two_axes_are_query_and_key_whatever_their_lengths() -> None:
    square = np.tri(4, dtype=bool)
    np.testing.assert_array_equal(combined((4, 4, 4), mask=square), np.broadcast_to(square, (4, 4, 4)))


@pytest.mark.parametrize("dtype", [int, np.uint8, np.float16, float, complex])
@pytest.mark.parametrize("shape", [(4, 4, 4), (2, 4, 4), (4, 2, 4, 4)])
def test_a_mask_of_numbers_raises_whatever_its_shape(dtype, shape) -> None:
    """Zeros and ones of (batch, key) or (query, key), and what is to be added to the scores: nothing is guessed."""
    words = rf"mask must be boolean, True = attend, got dtype {np.dtype(dtype)}: pass mask\.astype\(bool\) for zeros "
    for given in (np.tri(4, dtype=dtype), Tensor(np.tri(4, dtype=dtype)), np.tri(4, dtype=dtype).tolist()):
        with pytest.raises(DTypeError, match=r"key_mask= .* bias=" if isinstance(given, list) else words):
            combined(shape, mask=given)


def test_lists_and_tensors_are_masks_too() -> None:
    for name, mask in (("key_mask", KEY), ("mask", MATRIX), ("key_mask", KEY.astype(int))):
        for given in (mask.tolist(), Tensor(mask)):
            np.testing.assert_array_equal(combined(FOUR, **{name: given}), combined(FOUR, **{name: mask}))


def test_a_key_mask_of_other_values_and_floats_raises() -> None:
    with pytest.raises(
        DTypeError, match=r"key_mask must be boolean, .* got dtype float64: pass key_mask != 0 for a 0/1"
    ):
        combined(THREE, key_mask=KEY.astype(float))
    for worst in (2, -1):
        mask = KEY.astype(int)
        mask[1, 2] = worst
        with pytest.raises(OutOfRangeError, match=rf"key_mask of integers must hold 1 .* got {worst}: .*key_mask != 0"):
            combined(THREE, key_mask=mask)


@pytest.mark.parametrize(
    ("shape", "masks", "words"),
    [
        (THREE, {"key_mask": KEY[:, :3]}, r"key_mask must have the shape \(batch, key\) = \(2, 4\), got \(2, 3\)"),
        (FOUR, {"key_mask": KEY[0]}, r"\(batch, key\) = \(2, 4\), got \(4,\)"),
        (FOUR, {"key_mask": KEY[:1]}, r"\(batch, key\) = \(2, 4\), got \(1, 4\)"),
        (THREE, {"mask": MATRIX.T}, r"\(query, key\) = \(3, 4\), or three axes .* = \(2, 3, 4\), got \(4, 3\)"),
        (FOUR, {"mask": KEY}, r"pass key_mask= to say which keys are tokens, \(batch, key\)"),
        (FOUR, {"mask": KEY}, r"\(query, key\) = \(3, 4\), or four axes .* = \(2, 5, 3, 4\), got \(2, 4\)"),
        (FOUR, {"mask": MATRIX[None]}, r"got \(1, 3, 4\): put axes of length 1 with mask\[:, None\]"),
        (FOUR, {"mask": MATRIX[:, 0]}, r"got \(3,\)"),
    ],
)
def test_masks_of_another_shape_raise(shape, masks, words) -> None:
    with pytest.raises(ShapeError, match=words):
        combined(shape, **masks)


def test_the_mask_goes_where_the_inputs_are(put) -> None:
    """Masks from the host or from there; boolean ones do not make the host wait."""
    expected = combined(FOUR, key_mask=KEY, mask=MATRIX, causal=True)
    like = put(LIKE)
    integer = combined_mask(FOUR, like, key_mask=put(KEY.astype(int)))
    host_syncs.clear()
    for to in (np.asarray, put):
        got = combined_mask(FOUR, like, key_mask=to(KEY), mask=to(MATRIX), causal=True)
        assert type(got) is type(integer) is type(like)
        assert not host_syncs
        np.testing.assert_array_equal(np.broadcast_to(got.get(), FOUR), expected)
        host_syncs.clear()
    np.testing.assert_array_equal(integer.get()[:, 0, 0], KEY)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: causal_mask(-1), ArgumentError, "query must be an integer, 0 or more, got -1"),
        (partial(causal_mask, HALF), ArgumentError, "query must be an integer, 0 or more, got 2.5"),
        (lambda: causal_mask(3, 2), ShapeError, "a key for each query, got 3 queries and 2 keys: leave out causal"),
        (lambda: combined_mask((2, 4, 3), LIKE, causal=True), ShapeError, "got 4 queries and 3 keys"),
        (partial(window_mask, 3, HALF), ArgumentError, "radius must be an integer, 0 or more, got 2.5"),
        (lambda: window_mask(-3, 1), ArgumentError, "length must be an integer, 0 or more, got -3"),
    ],
)
def test_lengths_of_masks_are_checked(make, error, words) -> None:
    with pytest.raises(error, match=words):
        make()


def test_errors_name_the_masks_as_the_caller_does() -> None:
    names = ("source_mask", "links", "weights")
    with pytest.raises(ShapeError, match=r"^source_mask must have"):
        combined(FOUR, key_mask=KEY[:, :3], names=names)
    with pytest.raises(ShapeError, match=r"^links must have .* links\[:, None\]"):
        combined(FOUR, mask=MATRIX.T, names=names)
    with pytest.raises(
        DTypeError, match=r"^links must be boolean.* links\.astype\(bool\) .* source_mask= .* weights= "
    ):
        combined(FOUR, mask=MATRIX.astype(int), names=names)
    with pytest.raises(DTypeError, match=r"^weights must hold real numbers.* pass links= for booleans"):
        mask_and_bias(FOUR, LIKE, {"bias": MATRIX}, names)
    with pytest.raises(
        ShapeError, match=r"^weights must have .* \(batch, heads, query, key\) = \(2, 5, 3, 4\), got \(4, 3\)"
    ):
        mask_and_bias(FOUR, LIKE, {"bias": MATRIX.T * 1.0}, names)
    assert as_key_mask(None, (2, 4), LIKE) is None
    np.testing.assert_array_equal(as_key_mask(KEY.astype(int).tolist(), (2, 4), LIKE), KEY)
    with pytest.raises(DTypeError, match=r"^source_mask must be boolean"):
        as_key_mask(KEY * 1.0, (2, 4), LIKE, "source_mask")


RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
ATTENTIONS: list[Any] = [
    nn.DotProductAttention(), nn.SelfAttention(4, rng=RNG), nn.LocalAttention(1), nn.ContextAttention(4, rng=RNG),
    nn.PredictiveLocalAttention(4, 1, rng=RNG), nn.AttentionHead(4, 2, rng=RNG), nn.MultiHeadAttention(4, 2, rng=RNG),
    nn.PackedMultiHeadAttention(4, 2, rng=RNG), nn.TransformerEncoderLayer(4, 2, 8, rng=RNG), nn.MessagePassing(),
    nn.SimplifiedAttention(),
]  # fmt: skip


@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda attention: type(attention).__name__)
def test_every_attention_names_an_option_that_there_is_not(attention: Any) -> None:
    for call in (attention, attention.attention_weights):
        for unknown in ("key_maks", "names", "shape", "masks"):
            with pytest.raises(TypeError, match=rf"\b{unknown}\b"):
                call(X, **{unknown: None})
    with pytest.raises(
        UnsupportedError, match=r"no option key_maks, got ndarray: there are key_mask, mask, bias, causal$"
    ):
        mask_and_bias(THREE, LIKE, {"causal": True, "key_maks": KEY})  # type: ignore[typeddict-unknown-key]


@pytest.mark.parametrize(
    ("attention", "foreign"),
    [
        (nn.SelfAttention(4, rng=RNG), ["key", "value"]),
        (nn.TransformerEncoderLayer(4, 2, 8, rng=RNG), ["key", "value"]),
        (nn.SimplifiedAttention(), ["adjacency"]),
        (nn.AttentionHead(4, 2, rng=RNG), ["cache"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else type(value).__name__,
)
def test_what_another_attention_takes_is_no_option_of_this_one(attention: Any, foreign: list[str]) -> None:
    for name in foreign:
        with pytest.raises(TypeError, match=rf"\b{name}\b"):
            attention(X, **{name: X})


def test_every_attention_takes_every_option() -> None:
    given: Masks = {"key_mask": np.ones((2, 3), int), "mask": np.ones((3, 3), bool), "bias": np.ones(3), "causal": True}
    for attention in ATTENTIONS:
        options: Any = dict(given)
        if isinstance(attention, nn.ContextAttention):  # which has one query, that sees all
            options |= {"mask": np.ones((1, 3), bool)}
            del options["causal"]
        assert np.isfinite(attention(X, **options).data).all()
        assert np.isfinite(attention.attention_weights(X, **options).data).all()
