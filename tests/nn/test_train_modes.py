"""fit leaves modules in evaluation mode that were frozen before: their statistics and their outputs do not change."""

import copy
from typing import Any

import numpy as np
import pytest

import models
import nn
from minigrad import Tensor
from tests.nn.layers import rng

X = rng().normal(5, 3, (64, 3)).astype(np.float32)


def net() -> nn.Sequential:
    parts = [
        nn.Affine(3, 4, rng=rng()),
        nn.BatchNorm(4),
        nn.Dropout(0.5, rng=rng()),
        nn.Affine(4, 1, rng=rng(1)),
        nn.BatchNorm(1),
    ]
    return nn.Sequential(*parts)


def loss(model: Any, batch: Any) -> Tensor:
    return (model(batch[0]) ** 2).mean()


def fit(model: nn.Module, loss: Any = loss, **options: Any) -> None:
    batches = nn.Batches([X], 16, seed=0)
    nn.fit(model, batches, loss, nn.SGD(model.parameters()), **({"epochs": 2, "progress": False} | options))


def statistics(norm: Any) -> list[float]:
    return [*norm.running_mean.tolist(), *norm.running_var.tolist()]


def in_eval_mode(model: Any) -> None:
    model.layers[1].eval()


def without_gradients(model: Any) -> None:
    for parameter in model.layers[1].parameters():
        parameter.requires_grad = False


def in_a_loaded_model(model: Any) -> None:
    model.eval()
    without_gradients(model)


def with_lora(model: Any) -> None:
    nn.add_lora(model, 1, rng=rng())
    for parameter in model.layers[4].parameters():
        parameter.requires_grad = True


def test_what_stands_in_frozen_parts_alone_is_held() -> None:
    """The Dropout of a frozen part drops nothing; one that a part that learns holds too, and one beside it, drop."""
    own, shared, beside = (nn.Dropout(0.5, rng=rng()) for _ in range(3))
    frozen, learning = nn.Sequential(nn.Affine(3, 4, rng=rng()), own, shared), nn.Sequential(nn.Affine(4, 1, rng=rng()))
    for parameter in frozen.parameters():
        parameter.requires_grad = False
    learning.layers.append(shared)
    modes = []

    def watched(model: Any, batch: Any) -> Tensor:
        modes.append([part.training for part in (frozen, own, shared, beside, learning)])
        return loss(model, batch)

    fit(nn.Sequential(frozen, beside, learning), watched, epochs=1)
    assert modes == [[False, False, True, True, True]] * 4


@pytest.mark.parametrize("freeze", [in_eval_mode, without_gradients, in_a_loaded_model, with_lora])
@pytest.mark.parametrize("validate", [None, lambda model: model.train() and {}])
def test_a_frozen_norm_keeps_its_statistics_and_the_others_train(freeze: Any, validate: Any) -> None:
    model, modes = net(), []
    freeze(model)
    before, other = statistics(model.layers[1]), statistics(model.layers[4])
    one = copy.deepcopy(model)

    def watched(model: Any, batch: Any) -> Tensor:
        modes.append([layer.training for layer in model.layers[1:3]])
        return loss(model, batch)

    fit(model, watched, validate=validate)
    assert statistics(model.layers[1]) == before and statistics(model.layers[4]) != other
    assert modes == [[False, True]] * 8
    assert not any(module.training for module in model.modules())
    fit(model, watched)  # a second run, of a model that the first left in evaluation mode
    assert statistics(model.layers[1]) == before and modes[8:] == [[False, True]] * 8
    model.train()
    assert all(module.training for module in model.modules())
    assert vars(model.layers[1]).keys() == vars(one.train().layers[1]).keys()


def test_what_is_let_go_trains_in_the_next_run() -> None:
    for freeze in (in_eval_mode, without_gradients):
        model: Any = net()
        freeze(model)
        fit(model)
        before = statistics(model.layers[1])
        if freeze is in_eval_mode:
            model.train()
        else:
            for parameter in model.parameters():
                parameter.requires_grad = True
        fit(model)
        assert statistics(model.layers[1]) != before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["loss", "validate", "on_step"])
def test_so_it_is_after_an_error(where: str, error: type[BaseException]) -> None:
    model = net()
    in_eval_mode(model)
    before = statistics(model.layers[1])

    def broken(*_: Any) -> Any:
        raise error

    with pytest.raises(error):
        fit(model, **{where: broken})
    assert not any(module.training for module in model.modules())
    fit(model)
    assert statistics(model.layers[1]) == before


@pytest.mark.parametrize(
    "look", [lambda model: model.eval(), lambda model: model.train(), lambda model: model.eval().train()]
)
def test_a_program_that_switches_modes_between_steps_thaws_nothing(look: Any) -> None:
    model, modes = net(), []
    in_eval_mode(model)
    before = statistics(model.layers[1])

    def watched(model: Any, batch: Any) -> Tensor:
        modes.append([layer.training for layer in model.layers[1:3]])
        return loss(model, batch)

    fit(model, watched, on_step=lambda: look(model))
    assert statistics(model.layers[1]) == before and modes == [[False, True]] * 8


def test_a_single_part_may_train_in_a_model_in_evaluation_mode() -> None:
    model: Any = net()
    model.eval()
    model.layers[4].train()
    before, other = statistics(model.layers[1]), statistics(model.layers[4])
    fit(model)
    assert statistics(model.layers[1]) == before and statistics(model.layers[4]) != other


def test_embedding_texts_restores_the_mode_of_each_module() -> None:
    config = models.BertConfig(vocab_size=9, d_model=8, num_heads=2, num_layers=2, hidden=8, max_positions=8)
    model = models.BertEncoder(config, rng=rng())
    model.layers[0].eval()
    modes = [module.training for module in model.modules()]

    def tokenizer(texts: list[str]) -> Any:
        if "wrong" in texts:
            raise ZeroDivisionError
        return np.ones((len(texts), 2), int), np.ones((len(texts), 2), bool)

    model.embed(["a", "b"], tokenizer)
    with pytest.raises(ZeroDivisionError):
        model.embed(["wrong"], tokenizer)
    assert [module.training for module in model.modules()] == modes
