"""The NumPy article's run, digit for digit, and what is off in its derivatives."""

import numpy as np
import pytest

import article_rules as article
import minigrad as mg
import numpy_article as example
from models import TwoLayerConfig, TwoLayerTransformer
from tests.nn.layers import gradient

# The article's printed table.
BEFORE = "[[0.52450156 0.47549844]\n [0.5246498  0.4753502 ]]"
PRINTED = {
    10: "[[0.46977806 0.53022194]\n [0.46352429 0.53647571]]",
    20: "[[0.73811463 0.26188537]\n [0.30103311 0.69896689]]",
    30: "[[0.96535871 0.03464129]\n [0.03273874 0.96726126]]",
    40: "[[0.99548783 0.00451217]\n [0.00521023 0.99478977]]",
    50: "[[9.99530595e-01 4.69404946e-04]\n [1.19280865e-03 9.98807191e-01]]",
}


def plain_numpy_run(steps: int, variant: str = "ds") -> np.ndarray:
    """The article's algorithm without minigrad, line by line."""
    state = np.random.RandomState(0)
    W_1, W_2 = 0.01 * state.randn(2, 2), 0.01 * state.randn(2, 2)
    b_1, b_2 = np.zeros(2), np.zeros(2)
    grads = [np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2)), np.zeros(2)]  # never reset
    x, t = article.article_batch()
    scale, first = 2**0.5, None

    def softmax(z):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def attention(h):
        A = softmax(h @ h.swapaxes(1, 2) / scale)
        return A, A @ h

    for step in range(steps + 1):
        _, m_1 = attention(x)
        h = softmax(m_1 @ W_1 + b_1)
        A, m_2 = attention(h)
        y = softmax((m_2 @ W_2 + b_2).sum(axis=1))
        if step == steps:
            return y
        first = m_2 if first is None else first  # the input of the second Affine, of the first step for ever
        dz = np.repeat(((y - t) / 2)[:, None], 5, axis=1)
        dm = dz @ W_2.T
        dgraph = dm @ h.swapaxes(1, 2)
        ds = dgraph * A * (1 - A) if variant == "ds" else dgraph
        da = (A @ dm + 2 * ds @ h / scale) * h * (1 - h)
        dW_1, dW_2 = np.einsum("nlh,nlk->hk", m_1, da), np.einsum("nlh,nlk->hk", first, dz)
        for grad, new in zip(grads, (dW_1, da.sum(axis=(0, 1)), dW_2, dz.sum(axis=(0, 1)))):
            grad += new
        W_1, b_1, W_2, b_2 = (p - 0.1 * grad for p, grad in zip((W_1, b_1, W_2, b_2), grads))
    raise AssertionError


@pytest.fixture(scope="module")
def course() -> list:
    return article.train_as_the_article(article.ArticleTransformer(), 50, reset=False)


def test_before_the_first_step(course) -> None:
    y, loss = course[0]
    assert str(y) == BEFORE
    assert loss == pytest.approx(1.3890099701139418, rel=1e-15)


@pytest.mark.parametrize("step", PRINTED)
def test_the_printed_table_to_all_its_digits(course, step) -> None:
    assert str(course[step][0]) == PRINTED[step]


@pytest.mark.parametrize("step", [1, 10, 50])
@pytest.mark.parametrize(("variant", "graph"), [("ds", article.graph), ("dgraph", article.graph_as_published)])
def test_it_is_the_algorithm_written_out_without_minigrad(step, variant, graph) -> None:
    course = article.train_as_the_article(article.ArticleTransformer(graph), step, reset=False)
    np.testing.assert_allclose(course[step][0], plain_numpy_run(step, variant), rtol=1e-9)


def test_the_listing_as_published_gives_another_number() -> None:
    course = article.train_as_the_article(article.ArticleTransformer(article.graph_as_published), 10, reset=False)
    assert f"{course[10][0][0, 0]:.8f}" == "0.46988985"


def test_with_exact_derivatives() -> None:
    course = article.train_as_the_article(example.exact_network(), 50, reset=True)
    np.testing.assert_allclose(course[10][0][:, 0], [0.5064324042053893, 0.5064263092113592], rtol=1e-12)
    np.testing.assert_allclose(course[50][0][:, 0], [0.8488860888886082, 0.1510803692645633], rtol=1e-11)
    assert course[50][1] == pytest.approx(0.1638103987955246, rel=1e-11)


@pytest.mark.parametrize("quirk", ["fresh inputs", "reset gradients", "exact softmax"])
def test_every_quirk_is_needed(quirk) -> None:
    """Without any one of them the table is another."""
    network = article.ArticleTransformer()
    if quirk == "exact softmax":
        network.softmax = mg.softmax
    x, t = article.article_batch()
    for _ in range(20):
        if quirk == "fresh inputs":
            network.affine_1.first_x = network.affine_2.first_x = None
        if quirk == "reset gradients":
            network.zero_grad()
        network.loss(x, t).backward()
        for parameter in network.parameters():
            parameter.data = parameter.data - 0.1 * gradient(parameter)
    assert abs(network.probabilities(x).numpy()[0, 0] - 0.73811463) > 1e-4


# Where check_grads finds the rules off: at tokens that are alike, and at tokens that differ.
VERDICTS = {
    "softmax, dx": (False, False),
    "attention weights, dh": (False, False),
    "attention weights as published, dh": (False, False),
    "message passing, dA": (True, True),
    "message passing, dh": (True, False),
    "affine, dx": (True, True),
    "affine, dW": (False, False),
    "softmax with loss, dz": (False, False),
}


@pytest.fixture(scope="module")
def rules() -> dict:
    x, _ = article.article_batch()
    network = article.ArticleTransformer()
    article.train_as_the_article(network, 20, reset=False)
    distinct = np.asarray(np.random.default_rng(0).standard_normal(x.shape))
    pairs = zip(example.rules_at(x, network), example.rules_at(distinct, network))
    return {rule.name: (rule, other) for rule, other in pairs}


@pytest.mark.parametrize("name", VERDICTS)
def test_where_check_grads_finds_a_rule_off(rules, name) -> None:
    assert rules.keys() == VERDICTS.keys()
    for rule, right in zip(rules[name], VERDICTS[name]):
        assert (rule.complaint() is None) == right
        assert (rule.relative_error() < 1e-12) == right


def test_by_how_much(rules) -> None:
    assert rules["softmax with loss, dz"][0].relative_error() == pytest.approx(0.5, abs=1e-6)  # a mean for a sum
    assert "finite differences give" in rules["softmax, dx"][0].complaint()


def test_attention_gets_no_gradient_from_tokens_that_are_alike() -> None:
    x, t = article.article_batch()
    assert example.share_through_scores(example.exact_network(), x, t) < 1e-12
    twins = example.twin_sentences(64, np.random.default_rng(0))
    config = TwoLayerConfig(example.KINDS + 1, 8, 2, std=0.5)
    network = TwoLayerTransformer(config, rng=np.random.default_rng(0), dtype=np.float64)
    attention = network.attention_2
    assert example.share_through_scores(network, *twins) > 1e-3
    assert network.attention_2 is attention


def test_the_rules_run_on_a_device(put) -> None:
    network = article.ArticleTransformer()
    for parameter in network.parameters():
        parameter.data = put(parameter.data)
    course = article.train_as_the_article(network, 10, reset=False)
    assert str(course[10][0]) == PRINTED[10]
