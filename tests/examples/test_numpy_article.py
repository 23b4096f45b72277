"""The NumPy article's gradient three times: by hand, as `mg.write_numpy` writes it, and from the tape."""

import runpy
from dataclasses import fields, replace

import numpy as np
import pytest

import article_by_hand as hand
import article_rules as article
import minigrad as mg
import numpy_article as example
from models import TwoLayerConfig, TwoLayerTransformer
from tests.nn.layers import gradient

RULES = [field.name for field in fields(hand.Rules)]
PLACES = tuple(range(hand.FIRST, hand.FIRST + len(hand.PARAMETERS)))


@pytest.fixture(scope="module", params=[None, 0, 1], ids=["the article's", "tokens 0", "tokens 1"])
def arguments(request) -> tuple:
    return example.arguments_of_a_step(request.param)


@pytest.fixture(scope="module")
def distinct() -> tuple:
    return example.arguments_of_a_step(0)


@pytest.fixture(scope="module")
def program():
    return mg.write_numpy(hand.network, *example.arguments_of_a_step(), argnum=PLACES)


def differences(gradients, others) -> list[float]:
    return [hand.largest_difference([one], [other]) for one, other in zip(gradients, others, strict=True)]


def loaded(network: TwoLayerTransformer, arguments: tuple) -> TwoLayerTransformer:
    for parameter, value in zip(network.parameters(), arguments[hand.FIRST :], strict=True):
        parameter.data = value.copy()
    return network


def test_the_written_program_is_the_tape(program, arguments) -> None:
    loss, *gradients = program(*arguments)
    assert abs(loss - hand.network(*map(mg.Tensor, arguments)).item()) < 1e-12
    assert max(differences(gradients, hand.tape(*arguments))) < 1e-12


def test_the_saved_program_is_the_tape(tmp_path, capsys, distinct) -> None:
    example.show_three_gradients(0, tmp_path)
    step = runpy.run_path(str(tmp_path / "numpy_article_step.py"))["step"]
    assert max(differences(step(*distinct)[1:], hand.tape(*distinct))) < 1e-12


def test_the_articles_gradient_is_wrong_and_finite_differences_agree_with_the_tape(arguments) -> None:
    tape, measured = hand.tape(*arguments), hand.finite_differences(*arguments)
    by_hand = hand.by_hand(*arguments)[1:]
    assert max(differences(measured, tape)) < 1e-8
    for against in (tape, measured):
        assert all(
            off > 0.1 * np.abs(right).max() for off, right in zip(differences(by_hand, against), against, strict=True)
        )


def test_by_hand_is_the_article_and_the_tape_is_the_model(arguments) -> None:
    x, t, *_ = arguments
    ours = loaded(
        TwoLayerTransformer(TwoLayerConfig(2, 2, 2), rng=np.random.default_rng(0), dtype=np.float64), arguments
    )
    for network, gradients, batch in (
        (loaded(article.ArticleTransformer(), arguments), hand.by_hand(*arguments)[1:], 1),
        (ours, hand.tape(*arguments), len(t)),
    ):
        (batch * network.loss(x, t)).backward()
        assert max(differences([gradient(parameter) for parameter in network.parameters()], gradients)) < 1e-12


def test_four_corrected_rules_make_it_right(arguments) -> None:
    assert max(differences(hand.by_hand(*arguments, rules=hand.EXACT)[1:], hand.tape(*arguments))) < 1e-12


@pytest.mark.parametrize("name", RULES)
def test_each_rule_alone_is_wrong(name, distinct) -> None:
    assert hand.error_of_each_rule(*distinct)[name] > 1e-3
    right = replace(hand.ARTICLE, **{name: getattr(hand.EXACT, name)})  # the other three stay the article's
    assert max(differences(hand.by_hand(*distinct, rules=right)[1:], hand.tape(*distinct))) > 1e-3


def test_where_all_tokens_are_alike_two_rules_make_no_difference() -> None:
    errors = hand.error_of_each_rule(*example.arguments_of_a_step())
    assert {name for name in RULES if errors[name] > 1e-12} == {"loss", "softmax"}


def test_the_rule_of_the_loss_is_that_of_the_mean(distinct) -> None:
    halved = replace(hand.EXACT, loss=hand.ARTICLE.loss)
    for half, whole in zip(hand.by_hand(*distinct, rules=halved)[1:], hand.tape(*distinct), strict=True):
        np.testing.assert_allclose(2 * half, whole, rtol=1e-4)


def test_the_written_program_is_hardly_longer(program) -> None:
    assert hand.statements(str(program)) <= 1.5 * hand.statements(hand.by_hand)


def test_statements_are_counted_without_the_docstring() -> None:
    assert hand.statements("def f(x):\n    'Say it.'\n    if x:\n        y = 1\n    return y\n") == 3
    assert hand.statements("def f(x):\n    return x\n") == 1
