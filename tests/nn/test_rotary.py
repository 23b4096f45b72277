"""Rotary positions: complex rotations, and scores that know distances only."""

import numpy as np
import pytest

from minigrad import ArgumentError, DTypeError, ShapeError, check_grads
from nn import MultiHeadAttention, RotaryPositions
from tests.nn.layers import assert_close, randomized, rng

X = rng(1).standard_normal((2, 5, 12))


def rotated(x: np.ndarray, head_dim: int, start: int = 0, base: float = 10000.0) -> np.ndarray:
    """The paper's eq. 34 with complex numbers, element by element."""
    result = x.copy()
    for place in np.ndindex(x.shape[:-1]):
        for column in range(0, x.shape[-1], 2):
            theta = base ** (-(column % head_dim) / head_dim)
            z = complex(*x[place][column : column + 2]) * np.exp(1j * (start + place[-1]) * theta)
            result[place][column : column + 2] = z.real, z.imag
    return result


@pytest.mark.parametrize("head_dim", [2, 4, 6, 12])
@pytest.mark.parametrize("start", [0, 3, 100])
@pytest.mark.parametrize("base", [10000.0, 7, 500000.0])
def test_equals_complex_rotations(head_dim, start, base) -> None:
    layer = RotaryPositions(head_dim, base=base)
    assert_close(layer(X, start=start).numpy(), rotated(X, head_dim, start, base))
    assert_close(layer(X[0], start=start).numpy(), rotated(X[0], head_dim, start, base))


def test_a_number_for_rotary_is_the_base() -> None:
    ours, given = (MultiHeadAttention(8, 2, rng=rng(), rotary=rotary) for rotary in (True, 50.0))
    assert ours.rotary is not None and given.rotary is not None
    assert (ours.rotary.positions.base, given.rotary.positions.base) == (10000.0, 50.0)
    for base in (0.5, -1.0, np.inf, np.nan):
        with pytest.raises(ArgumentError, match=f"rotary must be a number >= 1, got {base}"):
            MultiHeadAttention(8, 2, rng=rng(), rotary=base)


def test_the_first_position_is_left_and_lengths_are_kept() -> None:
    y = RotaryPositions(4)(X).numpy()
    np.testing.assert_array_equal(y[:, 0], X[:, 0])
    assert_close(np.square(y).reshape(2, 5, 6, 2).sum(-1), np.square(X).reshape(2, 5, 6, 2).sum(-1))


def test_products_depend_on_the_distance_only() -> None:
    """One query and one key at all pairs of positions: the scores are constant along the diagonals, and not elsewhere."""
    layer, generator = RotaryPositions(8), rng(4)
    q, k = (np.broadcast_to(generator.standard_normal(8), (6, 8)) for _ in range(2))
    for start in (0, 50):
        scores = (layer(q, start=start) @ layer(k, start=start).T).numpy()
        np.testing.assert_allclose(scores[1:, 1:], scores[:-1, :-1], rtol=0, atol=1e-12)
    assert len(np.unique(scores.round(6))) == 11


def test_attention_does_not_change_when_all_positions_are_shifted() -> None:
    """The same tokens 3 places further, behind masked ones: the same weights among themselves."""
    ours = randomized(MultiHeadAttention(8, 2, rng=rng(), rotary=True, dtype=np.float64))
    tokens = rng(5).standard_normal((2, 4, 8))
    shifted = np.concatenate([rng(6).standard_normal((2, 3, 8)), tokens], axis=1)
    key_mask = np.broadcast_to(np.arange(7) >= 3, (2, 7))
    assert_close(
        ours.attention_weights(shifted, key_mask=key_mask).numpy()[:, :, 3:, 3:], ours.attention_weights(tokens).numpy()
    )
    assert_close(ours(shifted, key_mask=key_mask).numpy()[:, 3:], ours(tokens).numpy())
    order = [2, 0, 3, 1]
    assert not np.allclose(ours(tokens[:, order]).numpy(), ours(tokens).numpy()[:, order])  # positions do matter


def test_gradients() -> None:
    check_grads(lambda x: RotaryPositions(4)(x, start=2), (X,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_dtype(dtype) -> None:
    layer = RotaryPositions(6)
    for _ in range(2):
        assert layer(X.astype(dtype)).dtype == dtype
        assert layer(X).dtype == np.float64
    far = layer(X.astype(dtype), start=5000).numpy()  # angles are computed in double precision, then rounded
    np.testing.assert_allclose(far, rotated(X, 6, 5000), rtol=0, atol=1e-6)


def test_has_no_parameters() -> None:
    layer = RotaryPositions(4)
    assert layer.num_parameters == 0 and layer.extra_repr() == "4"


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match="the width of a head must be even, got 3"):
        RotaryPositions(3)
    with pytest.raises(ArgumentError, match="head_dim must be a positive integer, got 0"):
        RotaryPositions(0)
    for shape in ((12,), (2, 5, 10)):
        with pytest.raises(ShapeError, match=r"needs x of shape \(\.\.\., length, num_heads \* 4\), got"):
            RotaryPositions(4)(np.ones(shape))
    with pytest.raises(ArgumentError, match="start must be an integer, 0 or more, got -1"):
        RotaryPositions(4)(X, start=-1)
    with pytest.raises(DTypeError, match="RotaryPositions needs a floating input, got dtype int64"):
        RotaryPositions(4)(np.ones((2, 4), int))


def test_programs_that_pair_the_halves_of_a_head_need_its_columns_in_another_order() -> None:
    """docs/from-pytorch.md gives the order: the even columns, then the odd ones. Then the rotated columns are the same."""
    head_dim, x = 6, np.random.default_rng(4).normal(size=(2, 5, 12))
    order = np.concatenate([np.arange(0, head_dim, 2), np.arange(1, head_dim, 2)])
    heads = x.reshape(2, 5, 2, head_dim)[..., order]
    angles = np.arange(5)[:, None, None] / 10000.0 ** (np.arange(0, head_dim, 2) / head_dim)
    cos, sin = (np.concatenate([f(angles)] * 2, axis=-1) for f in (np.cos, np.sin))
    low, high = np.split(heads, 2, axis=-1)
    turned = heads * cos + np.concatenate([-high, low], axis=-1) * sin
    ours = RotaryPositions(head_dim)(x).numpy().reshape(2, 5, 2, head_dim)[..., order]
    np.testing.assert_allclose(turned, ours, rtol=0, atol=1e-12)
