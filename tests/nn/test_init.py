"""Initial values: their distributions, and that a seed decides them."""

import math

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError
from nn import Affine, Embedding, MultiHeadAttention, TransformerEncoderLayer, init
from tests.nn.layers import rng

SHAPE = (300, 500)


@pytest.mark.parametrize(
    ("draw", "std", "bound"),
    [
        (lambda **k: init.uniform(SHAPE, -2, 2, **k), 2 / math.sqrt(3), 2),
        (lambda **k: init.normal(SHAPE, 0.3, **k), 0.3, None),
        (lambda **k: init.xavier_uniform(SHAPE, **k), math.sqrt(2 / 800), math.sqrt(6 / 800)),
        (lambda **k: init.xavier_normal(SHAPE, **k), math.sqrt(2 / 800), None),
        (lambda **k: init.he_normal(SHAPE, **k), math.sqrt(2 / 300), None),
    ],
    ids=["uniform", "normal", "xavier_uniform", "xavier_normal", "he_normal"],
)
def test_distribution_dtype_and_seed(draw, std, bound) -> None:
    values = draw(rng=rng())
    assert values.shape == SHAPE and values.dtype == np.float32
    assert abs(values.mean()) < 0.02 * std and values.std() == pytest.approx(std, rel=0.01)
    if bound is None:
        assert np.abs(values).max() > 3 * std
    else:
        assert bound * 0.999 < np.abs(values).max() <= bound
    np.testing.assert_array_equal(values, draw(rng=rng()))
    assert not np.array_equal(values, draw(rng=rng(1)))
    np.testing.assert_array_equal(values, draw(rng=rng(), dtype=np.float64).astype(np.float32))


@pytest.mark.parametrize("bad", [None, 0, np.random.RandomState(0), np.random])
def test_anything_but_a_generator_raises(bad) -> None:
    for make in (lambda: Affine(2, 2, rng=bad), lambda: Embedding(2, 2, rng=bad), lambda: init.normal((2,), rng=bad)):
        with pytest.raises(ArgumentError, match=r"rng must be a numpy.random.Generator, such as np.random.default_rng"):
            make()


def test_the_generator_is_not_optional() -> None:
    with pytest.raises(TypeError, match="rng"):
        Affine(2, 2)  # type: ignore[call-arg]


def test_fans_need_a_matrix() -> None:
    with pytest.raises(ShapeError, match=r"\(3, 4, 5\)"):
        init.xavier_uniform((3, 4, 5), rng=rng())


def test_dropout_does_not_change_the_weights_that_a_seed_gives() -> None:
    plain, dropping = (TransformerEncoderLayer(4, 2, 8, rng=rng(), dropout=p).state_dict() for p in (0.0, 0.5))
    for name, array in plain.items():
        np.testing.assert_array_equal(array, dropping[name])


def test_the_parts_of_attention_are_drawn_apart() -> None:
    attention = MultiHeadAttention(4, 2, rng=rng())
    weights = [part.weight.data for part in (attention.query, attention.key, attention.value, attention.output)]
    assert not any(np.array_equal(a, b) for i, a in enumerate(weights) for b in weights[:i])
