"""Multi-head attention against PyTorch's, its masks, and what a fully masked row gives."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, OutOfRangeError, ShapeError, Tensor, enable_grad, reference_mode
from nn import MultiHeadAttention
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, gradient, load, randomized, rng, to_torch, twins

BATCH, QUERY, KEY, WIDTH, HEADS = 3, 4, 5, 6, 2
KEY_MASK = np.arange(KEY) < np.array([[5], [3], [1]])
CAUSAL = np.tri(QUERY, KEY, dtype=bool)
ANY = rng(7).random((BATCH, HEADS, QUERY, KEY)) < 0.6
ANY[..., 0] = True  # PyTorch gives NaN for a query with no key


def layer(**settings) -> MultiHeadAttention:
    attention: MultiHeadAttention = randomized(
        MultiHeadAttention(WIDTH, HEADS, rng=rng(), dtype=np.float64, **settings)
    )
    return attention


def inputs() -> list[np.ndarray]:
    generator = rng(3)
    return [generator.standard_normal((BATCH, length, WIDTH)) for length in (QUERY, KEY, KEY)]


def theirs_of(ours: MultiHeadAttention):
    theirs = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    return load(theirs, ours)


def torch_masks(key_mask, mask) -> dict[str, object]:
    """PyTorch's masks are True where a key is to be ignored, and per-head masks have batch and heads in one axis."""
    if mask is not None and mask.ndim == 4:
        mask = np.broadcast_to(mask, (BATCH, HEADS, QUERY, KEY)).reshape(-1, QUERY, KEY)
    return {
        "key_padding_mask": None if key_mask is None else to_torch(~key_mask),
        "attn_mask": None if mask is None else to_torch(~mask),
    }


MASKS = pytest.mark.parametrize(
    ("key_mask", "mask"),
    [
        (None, None),
        (KEY_MASK, None),
        (None, CAUSAL),
        (KEY_MASK, CAUSAL),
        (None, ANY),
        (KEY_MASK, ANY),
        (None, ANY[:, :1]),
    ],
    ids=["none", "key", "causal", "key+causal", "full", "key+full", "one for all heads"],
)


@MASKS
@pytest.mark.parametrize("reference", [False, True], ids=["kernel", "reference"])
def test_equals_pytorch(key_mask, mask, reference) -> None:
    ours, arrays = layer(), inputs()
    theirs = theirs_of(ours)
    tensors, torch_tensors = twins(*arrays)
    torch_y, torch_weights = theirs(*torch_tensors, average_attn_weights=False, **torch_masks(key_mask, mask))
    with reference_mode() if reference else enable_grad():
        y = ours(*tensors, key_mask=key_mask, mask=mask)
    weights = ours.attention_weights(arrays[0], arrays[1], key_mask=key_mask, mask=mask)
    assert_close(weights.numpy(), torch_weights.detach().numpy())
    assert_same([y, *tensors], [torch_y, *torch_tensors], (ours, theirs))


def test_self_attention_equals_pytorch() -> None:
    ours = layer()
    theirs = theirs_of(ours)
    (tensor,), (torch_tensor,) = twins(inputs()[1])
    torch_y, _ = theirs(torch_tensor, torch_tensor, torch_tensor, **torch_masks(KEY_MASK, None))
    y = ours(tensor, key_mask=KEY_MASK)
    assert_same([y, tensor], [torch_y, torch_tensor], (ours, theirs))


@pytest.mark.parametrize("key_mask", [None, KEY_MASK], ids=["none", "key"])
def test_dropout_of_the_weights_equals_pytorch(key_mask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyTorch would draw a mask it is given ours, which the layer's Dropout draws again in the same step."""
    ours, arrays = layer(dropout=0.4), inputs()
    assert ours.dropout is not None
    factors = ours.dropout(np.ones((BATCH, HEADS, QUERY, KEY))).numpy()
    assert 0.2 < (factors == 0).mean() < 0.6
    ours.dropout.step = 0
    theirs = load(torch.nn.MultiheadAttention(WIDTH, HEADS, dropout=0.4, batch_first=True), ours)

    def dropout(weights, p, *_, **__):
        assert p == 0.4
        return weights * to_torch(factors).reshape(weights.shape)

    monkeypatch.setattr(torch.nn.functional, "dropout", dropout)
    tensors, torch_tensors = twins(*arrays)
    torch_y, _ = theirs(*torch_tensors, need_weights=True, **torch_masks(key_mask, None))
    y = ours(*tensors, key_mask=key_mask)
    assert_same([y, *tensors], [torch_y, *torch_tensors], (ours, theirs))
    ours.dropout.step = 0
    again, weights = ours.with_weights(*arrays, key_mask=key_mask)
    assert_close(again.numpy(), y.numpy())
    assert_close(weights.numpy(), ours.attention_weights(*arrays, key_mask=key_mask).numpy())  # those before dropout


def test_dropout_is_off_in_evaluation_and_without_it_nothing_is_drawn() -> None:
    arrays = inputs()
    ours, plain = layer(dropout=0.4).eval(), layer()
    assert_close(ours(*arrays).numpy(), plain(*arrays).numpy())
    assert plain.dropout is None and ours.dropout is not None and ours.dropout.step == 0
    generators = rng(), rng()
    MultiHeadAttention(WIDTH, HEADS, rng=generators[0], dropout=0.0)
    MultiHeadAttention(WIDTH, HEADS, rng=generators[1])
    assert generators[0].random() == generators[1].random()
    with pytest.raises(ArgumentError, match=r"dropout must be in \[0, 1\), got 1.5"):
        layer(dropout=1.5)


def test_without_bias_equals_pytorch() -> None:
    ours = layer(bias=False)
    theirs = load(torch.nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True), ours)
    arrays = inputs()
    tensors, torch_tensors = twins(*arrays)
    assert_same([ours(*tensors), *tensors], [theirs(*torch_tensors)[0], *torch_tensors], (ours, theirs))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("key_mask", [None, KEY_MASK])
def test_cross_attention_to_another_width_equals_pytorch(bias, key_mask) -> None:
    ours = layer(context_dim=5, bias=bias)
    theirs = torch.nn.MultiheadAttention(WIDTH, HEADS, bias=bias, kdim=5, vdim=5, batch_first=True)
    load(theirs, ours)
    arrays = [inputs()[0], *rng(4).standard_normal((2, BATCH, KEY, 5))]
    tensors, torch_tensors = twins(*arrays)
    torch_y, torch_weights = theirs(*torch_tensors, average_attn_weights=False, **torch_masks(key_mask, None))
    weights = ours.attention_weights(*arrays, key_mask=key_mask)
    assert_close(weights.numpy(), torch_weights.detach().numpy())
    y = ours(*tensors, key_mask=key_mask)
    assert_same([y, *tensors], [torch_y, *torch_tensors], (ours, theirs))


def test_values_default_to_the_keys() -> None:
    ours, (query, key, _) = layer(), inputs()
    np.testing.assert_array_equal(ours(query, key).numpy(), ours(query, key, key).numpy())


@pytest.mark.parametrize("mask", [None, CAUSAL])
def test_gradients(mask) -> None:
    check_module(layer(), *(a[:2] for a in inputs()), key_mask=KEY_MASK[:2], mask=mask)


@pytest.mark.parametrize("reference", [False, True], ids=["kernel", "reference"])
def test_a_fully_masked_row_gives_zeros_and_a_finite_gradient(reference) -> None:
    """Sentence 1 is all padding. What is left of attention's result is the bias of the output map."""
    ours, key_mask = layer(), KEY_MASK.copy()
    key_mask[1] = False
    tensors = [Tensor(a, requires_grad=True) for a in inputs()]
    with reference_mode() if reference else enable_grad():
        y = ours(*tensors, key_mask=key_mask)
    y.backward(rng().standard_normal(y.shape))
    assert ours.output.bias is not None
    np.testing.assert_array_equal(y.numpy()[1], np.broadcast_to(ours.output.bias.data, (QUERY, WIDTH)))
    for tensor in tensors:
        assert np.isfinite(gradient(tensor)).all() and gradient(tensor)[0].any() and not gradient(tensor)[1].any()
    assert all(np.isfinite(gradient(parameter)).all() for parameter in ours.parameters())
    weights = ours.attention_weights(*tensors[:2], key_mask=key_mask).numpy()
    np.testing.assert_allclose(weights.sum(-1), np.array([1.0, 0.0, 1.0])[:, None, None] * np.ones((HEADS, QUERY)))


def test_padding_has_no_influence() -> None:
    ours, (query, key, value) = layer(), inputs()
    expected = ours(query, key, value, key_mask=KEY_MASK).numpy()
    key[~KEY_MASK] = value[~KEY_MASK] = 1e6
    assert_close(ours(query, key, value, key_mask=KEY_MASK).numpy(), expected)


def test_a_mask_may_be_a_list_or_a_tensor() -> None:
    ours, arrays = layer(), inputs()
    expected = ours(*arrays, key_mask=KEY_MASK).numpy()
    for mask in (KEY_MASK.tolist(), Tensor(KEY_MASK)):
        np.testing.assert_array_equal(ours(*arrays, key_mask=mask).numpy(), expected)


def test_a_key_mask_may_hold_integers_zero_and_one() -> None:
    ours, arrays = layer(), inputs()
    expected = ours(*arrays, key_mask=KEY_MASK).numpy()
    np.testing.assert_array_equal(ours(*arrays, key_mask=KEY_MASK.astype(int)).numpy(), expected)


def test_key_masks_must_not_be_floating_nor_hold_other_values() -> None:
    with pytest.raises(DTypeError, match=r"key_mask must be boolean, .* got dtype float32: pass key_mask != 0"):
        layer()(*inputs(), key_mask=KEY_MASK.astype(np.float32))
    with pytest.raises(OutOfRangeError, match=r"key_mask of integers must hold 1 \(attend\) and 0 only, got 2"):
        layer()(*inputs(), key_mask=2 * KEY_MASK.astype(int))


@pytest.mark.parametrize("batch", [4, KEY])
def test_a_matrix_of_integers_is_no_mask(batch) -> None:
    """It was a key mask where there happened to be as many sentences as tokens, and did not fit where there were not."""
    x = rng(4).standard_normal((batch, KEY, WIDTH))
    attention = MultiHeadAttention(WIDTH, HEADS, rng=rng())
    words = r"mask must be boolean, .* pass mask\.astype\(bool\) .* key_mask= .* or bias= for numbers"
    for dtype in (int, float):
        with pytest.raises(DTypeError, match=words):
            attention(x, mask=np.tril(np.ones((KEY, KEY), dtype)))
    with pytest.raises(DTypeError, match=words):
        attention(x, mask=Tensor(np.zeros((KEY, KEY)), requires_grad=True))
    with pytest.raises(ShapeError, match=r"pass key_mask= to say which keys are tokens, \(batch, key\)"):
        attention(x[:2], mask=np.ones((2, KEY), bool))


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ({"key_mask": KEY_MASK[:, :4]}, r"key_mask must have the shape \(batch, key\) = \(3, 5\), got \(3, 4\)"),
        ({"key_mask": KEY_MASK[0]}, r"got \(5,\)"),
        ({"mask": CAUSAL.T}, r"mask must have the shape \(query, key\) = \(4, 5\).* got \(5, 4\)"),
        ({"mask": ANY[:, 0]}, r"got \(3, 4, 5\): put axes of length 1 with mask\[:, None\]"),
        ({"mask": ANY[:2]}, r"\(3, 2, 4, 5\), got \(2, 2, 4, 5\)"),
    ],
)
def test_masks_of_another_shape_raise(masks, words) -> None:
    with pytest.raises(ShapeError, match=words):
        layer()(*inputs(), **masks)


def test_a_mask_of_three_axes_raises_even_where_it_would_broadcast() -> None:
    """(batch, query, key) with as many sentences as heads would be taken for one mask a head."""
    x = inputs()[1][:HEADS]
    with pytest.raises(ShapeError, match=r"got \(2, 5, 5\)"):
        layer()(x, mask=np.ones((HEADS, KEY, KEY), bool))


def test_inputs_that_do_not_fit_raise() -> None:
    ours, (query, key, value) = layer(), inputs()
    for bad in ((query[0],), (query[..., :4],), (query, key[..., :4]), (query, key, value[0])):
        with pytest.raises(ShapeError, match=r"(query|key|value) of shape \(batch, length, 6\), got"):
            ours(*bad)
    for bad in ((query, key[:2]), (query, key, value[:, :4])):
        with pytest.raises(ShapeError, match="one batch size, and as many values as keys"):
            ours(*bad)


def test_heads_must_divide_the_width_unless_told_otherwise() -> None:
    with pytest.raises(
        ArgumentError, match=r"num_heads=4 does not divide d_model=6: set the width of a head, such as key_dim=1$"
    ):
        MultiHeadAttention(6, 4, rng=rng())
    with pytest.raises(ArgumentError, match="num_heads must be a positive integer, got 0"):
        MultiHeadAttention(6, 0, rng=rng())
    with pytest.raises(ArgumentError, match=r"num_heads=8 does not divide d_model=6: .* such as key_dim=1$"):
        MultiHeadAttention(6, 8, rng=rng())
    with pytest.raises(ArgumentError, match="key_dim must be a positive integer, got 0"):
        MultiHeadAttention(6, 8, rng=rng(), key_dim=6 // 8)
    uneven = MultiHeadAttention(6, 4, rng=rng(), key_dim=6 // 4)
    assert [p.weight.shape for p in (uneven.query, uneven.value, uneven.output)] == [(6, 4), (6, 4), (4, 6)]
    assert MultiHeadAttention(6, 4, rng=rng(), key_dim=2).output.weight.shape == (8, 6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_kv_heads": 3}, "num_kv_heads=3 does not divide num_heads=2"),
        ({"num_kv_heads": 0}, "num_kv_heads must be a positive integer, got 0"),
        ({"value_dim": -1}, "value_dim must be a positive integer, got -1"),
        ({"key_dim": 2.0}, "key_dim must be a positive integer, got 2.0"),
        ({"context_dim": 0}, "context_dim must be a positive integer, got 0"),
        ({"rotary": True}, "the width of a head must be even, got 3"),
        ({"rotary": True, "context_dim": 5}, "self-attention, and context_dim=5 is not d_model=6"),
    ],
)
def test_sizes_that_do_not_fit_raise(settings, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        MultiHeadAttention(WIDTH, HEADS, rng=rng(), **settings)


def test_another_context_width_must_be_given() -> None:
    ours, x = layer(context_dim=5), inputs()[0]
    with pytest.raises(
        ShapeError, match=r"MultiHeadAttention needs key of shape \(batch, length, 5\), got \(3, 4, 6\)"
    ):
        ours(x)


def test_rotary_positions_need_one_sequence() -> None:
    with pytest.raises(ShapeError, match="self-attention, and there are 4 queries and 5 keys"):
        layer(rotary=True, key_dim=2)(*inputs())


def test_repr_tells_the_settings() -> None:
    assert layer().extra_repr() == "6, num_heads=2"
    assert layer(num_kv_heads=1, context_dim=5).extra_repr() == "6, num_heads=2, num_kv_heads=1, context_dim=5"


def test_computes_in_the_dtype_of_its_parameters() -> None:
    ours = MultiHeadAttention(WIDTH, HEADS, rng=rng())
    assert ours(*inputs()).dtype == np.float32
    assert ours.attention_weights(*inputs()[:2]).dtype == np.float32


def test_no_keys_give_the_bias_of_the_output() -> None:
    ours, query = layer(), inputs()[0]
    assert ours.output.bias is not None
    np.testing.assert_array_equal(
        ours(query, query[:, :0]).numpy(), np.broadcast_to(ours.output.bias.data, query.shape)
    )
    assert ours(query[:, :0], query).shape == (BATCH, 0, WIDTH)
    assert ours.attention_weights(query, query[:, :0]).shape == (BATCH, HEADS, QUERY, 0)
