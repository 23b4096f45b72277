"""Sampling: every distribution in closed form, and draws that have it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from minigrad import ArgumentError, OutOfRangeError, ShapeError, Tensor
from nn import apply_temperature, keep_top_k, keep_top_p, sample_tokens, token_probabilities
from tests.lazy import torch

P = np.array([0.1, 0.4, 0.05, 0.25, 0.2])
LOGITS = np.log(P)


def probabilities(logits=LOGITS, **settings):
    return token_probabilities(logits, **settings)


def test_without_settings_it_is_the_softmax():
    np.testing.assert_allclose(probabilities(), P, rtol=1e-14)
    np.testing.assert_allclose(probabilities(LOGITS + 1000), P, rtol=1e-12)  # without overflow


def test_temperature_is_a_power_of_the_probabilities():
    """softmax(log p / T) is p**(1/T), normalised: squares at 1/2, square roots at 2."""
    np.testing.assert_allclose(probabilities(temperature=0.5), P**2 / (P**2).sum(), rtol=1e-13)
    np.testing.assert_allclose(probabilities(temperature=2.0), P**0.5 / (P**0.5).sum(), rtol=1e-13)
    np.testing.assert_allclose(probabilities(temperature=1e300), 0.2)
    np.testing.assert_array_equal(probabilities(temperature=1e-300), [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(probabilities([1e4, 1e5, -1e5], temperature=1e-306), [0, 1, 0])


def test_temperature_zero_takes_the_first_of_the_most_probable():
    np.testing.assert_array_equal(probabilities(temperature=0), [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(
        probabilities([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], temperature=0), [[0, 1, 0], [1, 0, 0]]
    )


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, [0, 1, 0, 0, 0]), (2, [0, 40 / 65, 0, 25 / 65, 0]), (4, P * [1, 1, 0, 1, 1] / 0.95), (5, P), (99, P)],
)
def test_top_k_renormalises_the_k_most_probable(k, expected):
    np.testing.assert_allclose(probabilities(top_k=k), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (1e-9, [0, 1, 0, 0, 0]),  # the most probable is always in
        (0.39, [0, 1, 0, 0, 0]),
        (0.41, [0, 40 / 65, 0, 25 / 65, 0]),  # 0.4 is not enough
        (0.84, [0, 40 / 85, 0, 25 / 85, 20 / 85]),
        (0.86, P * [1, 1, 0, 1, 1] / 0.95),
        (1.0, P),
    ],
)
def test_top_p_renormalises_the_smallest_set_that_reaches_p(p, expected):
    np.testing.assert_allclose(probabilities(top_p=p), expected, rtol=1e-14)


def test_what_adds_up_to_exactly_p_is_enough():
    np.testing.assert_array_equal(probabilities(np.zeros(4), top_p=0.5), [0.5, 0.5, 0, 0])


def test_of_equal_logits_the_first_are_kept_and_no_more():
    np.testing.assert_array_equal(keep_top_k([2.0, 1.0, 2.0, 2.0], 2), [2, -np.inf, 2, -np.inf])
    np.testing.assert_array_equal(keep_top_p([1.0, 2.0, 1.0, 1.0], 0.5), [1, 2, -np.inf, -np.inf])
    kept = np.isfinite(keep_top_k(np.tile([0.0, 1.0], 100), 7))  # long enough for sorting to be unstable
    np.testing.assert_array_equal(np.flatnonzero(kept), [1, 3, 5, 7, 9, 11, 13])


@pytest.mark.parametrize("logits", [np.zeros(5000), np.round(np.random.default_rng(2).normal(size=(2, 5000)), 1)])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.9, 0.9999])
def test_a_nucleus_of_any_size_is_that_of_all_tokens_sorted(logits, p):
    """Of a large vocabulary only the beginning is sorted; hundreds of equal tokens lie where it ends."""
    order = np.argsort(-logits, axis=-1, kind="stable")
    ranked = np.take_along_axis(token_probabilities(logits), order, axis=-1)
    expected = np.take_along_axis(ranked.cumsum(axis=-1) - ranked < p, order.argsort(axis=-1), axis=-1)
    np.testing.assert_array_equal(np.isfinite(keep_top_p(logits, p)), expected)


@pytest.mark.parametrize("k", [1, 40, 256, 4999])
def test_top_k_of_a_large_vocabulary_is_that_of_all_tokens_sorted(k):
    logits = np.round(np.random.default_rng(3).normal(size=(2, 5000)), 1)
    expected = np.argsort(np.argsort(-logits, axis=-1, kind="stable"), axis=-1) < k
    np.testing.assert_array_equal(np.isfinite(keep_top_k(logits, k)), expected)


def test_top_p_of_one_keeps_even_what_rounding_would_lose():
    assert (probabilities([0.0, -40.0], top_p=1.0) > 0).all()


def test_temperature_comes_first_then_k_then_p():
    """At temperature 1/2 the squares are 16, 6.25, 4 ...: of the two best, 0.4 has 16 / 22.25 = 0.719 of the probability."""
    np.testing.assert_allclose(probabilities(temperature=0.5, top_k=2, top_p=0.7), [0, 1, 0, 0, 0])
    np.testing.assert_allclose(
        probabilities(temperature=0.5, top_k=2, top_p=0.72), np.array([0, 16, 0, 6.25, 0]) / 22.25, rtol=1e-13
    )


def test_rows_are_apart_and_axes_any():
    logits = np.random.default_rng(0).standard_normal((2, 3, 7))
    together = probabilities(logits, temperature=0.7, top_k=5, top_p=0.8)
    for row in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[row], probabilities(logits[row], temperature=0.7, top_k=5, top_p=0.8))
    assert sample_tokens(logits, rng=np.random.default_rng(0)).shape == (2, 3)
    assert sample_tokens(logits[0, 0], rng=np.random.default_rng(0)).shape == ()


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=8), st.floats(0.01, 1), st.integers(1, 8))
def test_the_kept_are_the_most_probable_and_none_of_them_could_be_missed(logits, p, k):
    logits = np.array(logits)
    full, nucleus = probabilities(logits), np.isfinite(keep_top_p(logits, p))
    assert full[nucleus].sum() >= p - 1e-12
    assert full[nucleus].sum() - full[nucleus].min() < p + 1e-12
    assert nucleus.all() or full[nucleus].min() >= full[~nucleus].max()
    best = np.isfinite(keep_top_k(logits, k))
    assert best.sum() == min(k, len(logits))
    assert best.all() or full[best].min() >= full[~best].max()


def test_top_k_keeps_what_torch_topk_finds():
    logits = np.random.default_rng(1).standard_normal((20, 30))
    kept = np.isfinite(keep_top_k(logits, 7))
    indices = torch.topk(torch.from_numpy(logits), 7).indices.numpy()
    np.testing.assert_array_equal(np.flatnonzero(kept) % 30, np.sort(indices, axis=-1).ravel())


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.8}])
def test_draws_have_these_frequencies(settings):
    n = 40_000
    expected = probabilities(**settings)
    drawn = sample_tokens(np.broadcast_to(LOGITS, (n, 5)), rng=np.random.default_rng(0), **settings)
    frequencies = np.bincount(drawn, minlength=5) / n
    assert (frequencies[expected == 0] == 0).all()
    deviation = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(frequencies - expected) <= 4 * deviation).all()


class Fixed(np.random.Generator):
    """A generator whose uniform numbers are given."""

    def __init__(self, value):
        super().__init__(np.random.PCG64(0))
        self.value = value

    def random(self, size=None, *_, **__):
        return np.full(size, self.value)


@pytest.mark.parametrize(
    ("uniform", "token"), [(0.0, 1), (0.1249, 1), (0.1251, 3), (0.49, 3), (0.51, 4), (1 - 2**-53, 4)]
)
def test_a_draw_inverts_the_cumulative_distribution_and_never_gives_the_impossible(uniform, token):
    """Probabilities 0, 1/8, 0, 3/8, 1/2, 0: tokens 0, 2 and 5 cannot come, at whichever number."""
    with np.errstate(divide="ignore"):
        logits = np.log([0, 1, 0, 3, 4, 0])
    assert sample_tokens(logits, rng=Fixed(uniform)) == token


def test_a_draw_close_to_1_is_a_token_even_where_rounding_takes_the_sum_below_1():
    assert np.cumsum(probabilities(np.zeros(10)))[-1] < 1
    assert sample_tokens(np.zeros(10), rng=Fixed(1 - 2**-53)) == 9


def test_a_seed_gives_the_same_draws_and_each_row_takes_one_number():
    first, second = (sample_tokens(np.tile(LOGITS, (50, 1)), rng=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(set(first.tolist())) > 2
    after = []
    for settings in ({}, {"temperature": 0}, {"top_k": 2, "top_p": 0.5}):
        generator = np.random.default_rng(3)
        sample_tokens(np.tile(LOGITS, (50, 1)), rng=generator, **settings)
        after.append(generator.random())
    untouched = np.random.default_rng(3).random(51)
    assert after == [untouched[50]] * 3


def test_temperature_leaves_the_order_and_the_input_alone():
    logits = LOGITS.copy()
    apply_temperature(logits, 0.5), keep_top_k(logits, 2), keep_top_p(logits, 0.5)
    np.testing.assert_array_equal(logits, LOGITS)
    np.testing.assert_array_equal(np.argsort(apply_temperature(LOGITS, 3.0)), np.argsort(LOGITS))


def test_takes_tensors_of_single_precision_and_device_arrays(put):
    for logits in (Tensor(LOGITS.astype(np.float32)), put(LOGITS), Tensor(put(LOGITS), requires_grad=True)):
        got = probabilities(logits, top_k=4)
        assert type(got) is np.ndarray and got.dtype == np.float64
        np.testing.assert_allclose(got, probabilities(top_k=4), rtol=1e-6)
        assert sample_tokens(logits, rng=np.random.default_rng(0)) == sample_tokens(
            LOGITS, rng=np.random.default_rng(0)
        )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"temperature": -0.1}, "temperature must be a number >= 0, got -0.1"),
        ({"temperature": np.nan}, "temperature must be a number >= 0, got nan"),
        ({"temperature": np.inf}, "temperature must be a number >= 0, got inf"),
        ({"top_k": 0}, "top_k must be a positive integer, got 0"),
        ({"top_k": 1.5}, "top_k must be a positive integer, got 1.5"),
        ({"top_p": 0.0}, r"top_p must be in \(0, 1\], got 0.0"),
        ({"top_p": 1.1}, r"top_p must be in \(0, 1\], got 1.1"),
    ],
)
def test_a_setting_out_of_its_range_raises_and_draws_nothing(settings, words):
    generator = np.random.default_rng(0)
    with pytest.raises(ArgumentError, match=words):
        sample_tokens(LOGITS, rng=generator, **settings)
    assert generator.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    ("logits", "error", "words"),
    [
        ([0.0, np.nan], OutOfRangeError, "got nan"),
        ([0.0, np.inf], OutOfRangeError, "got inf"),
        ([[0.0, 0.0], [-np.inf, -np.inf]], OutOfRangeError, "got -inf for every token of a row"),
        (1.0, ShapeError, r"must have the shape \(..., vocabulary\), got \(\)"),
        (np.zeros((2, 0)), ShapeError, r"got \(2, 0\)"),
    ],
)
def test_logits_that_say_nothing_raise(logits, error, words):
    with pytest.raises(error, match=words):
        token_probabilities(logits)


def test_a_generator_is_needed():
    with pytest.raises(ArgumentError, match=r"rng must be a numpy\.random\.Generator"):
        sample_tokens(LOGITS, rng=np.random)  # type: ignore[arg-type]


def test_a_temperature_that_is_no_number() -> None:
    with pytest.raises(ArgumentError, match="temperature must be a number >= 0, got '1'"):
        apply_temperature(np.zeros(3), "1")  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 5)])
def test_at_temperature_0_it_takes_the_most_probable_and_draws_as_many_numbers_as_at_any_other(shape):
    logits = np.round(np.random.default_rng(1).standard_normal(shape))  # with ties, of which the first counts
    first, second = np.random.default_rng(0), np.random.default_rng(0)
    tokens = sample_tokens(logits, rng=first, temperature=0.0)
    np.testing.assert_array_equal(tokens, logits.argmax(axis=-1))
    np.testing.assert_array_equal(tokens, sample_tokens(logits, rng=second, temperature=0.0, top_k=5))
    assert first.random() == second.random()
    for bad in ([np.nan, 1.0], [-np.inf, -np.inf]):
        with pytest.raises(OutOfRangeError):
            sample_tokens(bad, rng=first, temperature=0.0)
