"""Each score against its formula, written with PyTorch's functions, and the softmax with a mask."""

from typing import Any

import numpy as np
import pytest

from minigrad import ArgumentError, ShapeError, Tensor, check_grads
from minigrad.rules.attention import masked_softmax
from nn import AdditiveScore, CosineScore, DotScore, GeneralScore
from nn.scores import NAMES, make_score, plain_score
from tests.lazy import torch
from tests.nn.layers import assert_close, assert_same, check_module, gradient, randomized, rng, to_torch, twins

BATCH, QUERY, KEY, QUERY_DIM, KEY_DIM = 2, 3, 5, 6, 4


def inputs(query_dim: int = KEY_DIM) -> list[np.ndarray]:
    generator = rng(3)
    return [generator.standard_normal((BATCH, QUERY, query_dim)), generator.standard_normal((BATCH, KEY, KEY_DIM))]


def torch_general(ours: GeneralScore, query, key):
    """(q W) . k for each pair, with PyTorch's bilinear form; the bias times the key is what it has no name for."""
    bilinear = torch.nn.Bilinear(QUERY_DIM, KEY_DIM, 1, bias=False).double()
    bilinear.weight.data = to_torch(ours.query.weight.data)[None]
    pairs = (query[:, :, None].expand(-1, -1, KEY, -1), key[:, None].expand(-1, QUERY, -1, -1))
    scores = bilinear(*(pair.contiguous() for pair in pairs))[..., 0]
    return scores if ours.query.bias is None else scores + (key @ to_torch(ours.query.bias.data))[:, None]


def torch_additive(ours: AdditiveScore, query, key):
    """One pair at a time, as the formula is printed."""
    w, u, b, v = (to_torch(parameter.data) for parameter in ours.parameters())
    rows = [[torch.tanh(query[:, i] @ w + key[:, j] @ u + b) @ v[:, 0] for j in range(KEY)] for i in range(QUERY)]
    return torch.stack([torch.stack(row, -1) for row in rows], 1)


def made(score, **settings):
    return randomized(score(QUERY_DIM, KEY_DIM, rng=rng(), dtype=np.float64, **settings))


CASES = {
    "dot": (DotScore(), KEY_DIM, lambda ours, q, k: torch.einsum("bqd,bkd->bqk", q, k)),
    "scaled_dot": (DotScore(scale=True), KEY_DIM, lambda ours, q, k: torch.einsum("bqd,bkd->bqk", q, k) / KEY_DIM**0.5),
    "cosine": (CosineScore(), KEY_DIM, lambda ours, q, k: torch.cosine_similarity(q[:, :, None], k[:, None], dim=-1)),
    "general": (made(GeneralScore), QUERY_DIM, torch_general),
    "biased_general": (made(GeneralScore, bias=True), QUERY_DIM, torch_general),
    "additive": (made(AdditiveScore, hidden_dim=7), QUERY_DIM, torch_additive),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_formula_in_pytorch(name) -> None:
    ours, query_dim, theirs = CASES[name]
    arrays = inputs(query_dim)
    tensors, torch_tensors = twins(*arrays)
    assert_same([ours(*tensors), *tensors], [theirs(ours, *torch_tensors), *torch_tensors])


@pytest.mark.parametrize("name", CASES)
def test_gradients(name) -> None:
    ours, query_dim, _ = CASES[name]
    check_module(ours, *inputs(query_dim))


def test_every_name_makes_its_score() -> None:
    assert set(CASES) == set(NAMES)
    for name, (expected, *_) in CASES.items():
        score: Any = make_score(name, QUERY_DIM, KEY_DIM, rng=rng(), dtype=np.float64)
        assert type(score) is type(expected)
        if name.endswith("dot"):
            assert score.scale is (name == "scaled_dot")
        if name.endswith("general"):
            assert (score.query.bias is not None) == (name == "biased_general")


def test_a_number_is_the_factor_of_a_dot_product() -> None:
    query, key = map(Tensor, inputs(KEY_DIM))
    for factor in (0.3, 1, np.float64(2.0)):
        assert_close(DotScore(factor)(query, key).numpy(), factor * DotScore()(query, key).numpy())
    with pytest.raises(ArgumentError, match="scale must be a finite number, got 'all'"):
        DotScore("all")  # type: ignore[arg-type]


def test_a_module_or_a_function_is_its_own_score() -> None:
    for own in (CosineScore(), lambda query, key: query @ key.swapaxes(-1, -2)):
        assert make_score(own, QUERY_DIM, KEY_DIM, rng=rng(), dtype=np.float32) is own
        assert plain_score(own) is own


def test_names_that_are_none_raise() -> None:
    makers: tuple[Any, ...] = (plain_score, lambda score: make_score(score, 2, 2, rng=rng(), dtype=np.float32))
    for make, last in zip(makers, ("cosine", "additive")):
        for bad in ("bilinear", 3):
            words = rf"score must be one of 'dot', 'scaled_dot', .*'{last}', a module or a function, got {bad!r}"
            with pytest.raises(ArgumentError, match=words):
                make(bad)
    with pytest.raises(ArgumentError, match="score='additive' has weights: pass the module"):
        plain_score("additive")
    with pytest.raises(ArgumentError, match="query_dim must be a positive integer, got 0"):
        make_score("dot", 0, 2, rng=rng(), dtype=np.float32)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (
            DotScore(),
            r"a dot product needs queries and keys of the same width, got query \(2, 3, 6\) and key \(2, 5, 4\)",
        ),
        (CosineScore(), "a cosine needs queries and keys of the same width"),
        (GeneralScore(6, 5, rng=rng()), r"needs key of shape \(batch, length, 5\), got \(2, 5, 4\)"),
        (GeneralScore(5, 4, rng=rng()), r"needs x of shape \(..., 5\), got \(2, 3, 6\)"),
        (AdditiveScore(6, 5, rng=rng()), r"needs x of shape \(..., 5\), got \(2, 5, 4\)"),
    ],
)
def test_widths_that_do_not_fit_raise(score, words) -> None:
    with pytest.raises(ShapeError, match=words):
        score(*(Tensor(a.astype(np.float32)) for a in inputs(6)))


def test_the_cosine_of_nothing_is_zero_and_so_is_its_gradient() -> None:
    query, key = (Tensor(a, requires_grad=True) for a in inputs())
    key.data[:, 1] = 0
    scores = CosineScore()(query, key)
    scores.sum().backward()
    np.testing.assert_array_equal(scores.numpy()[:, :, 1], 0)
    assert np.isfinite(gradient(query)).all() and np.isfinite(gradient(key)).all()


def test_masked_softmax_gives_zeros_where_nothing_is_allowed() -> None:
    scores = rng().standard_normal((4, 5))
    mask = rng(1).random((4, 5)) < 0.5
    mask[2], mask[3] = False, True
    weights = masked_softmax(Tensor(scores), mask).numpy()
    for row, allowed, got in zip(scores, mask, weights, strict=True):
        expected = np.zeros(5)
        if allowed.any():
            expected[allowed] = np.exp(row[allowed]) / np.exp(row[allowed]).sum()
        assert_close(got, expected)
    check_grads(lambda x: masked_softmax(x, mask), [scores])
