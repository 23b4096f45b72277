"""fit and common mistakes: an optimizer of another model, a loss of predictions, a file that cannot be written, NaN metrics."""

import functools
import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, DTypeError
from minigrad.serialize import CheckpointError
from nn import Affine, Batches, Module, fit
from tests.nn.training import Net, X, Y, adamw, fail, loss, run, stopping, weights

NEVER = stopping(loss, 0, fail)  # no batch may be computed


def affine(seed: int = 0) -> Any:
    return Affine(4, 2, rng=np.random.default_rng(seed))


def train(model: Module, optimizer: nn.Optimizer, loss: Any = loss, **options: Any) -> nn.History:
    return fit(model, Batches([X, Y], 8, seed=0), loss, optimizer, **{"epochs": 1, "progress": False} | options)


# --- the optimizer ---


@pytest.mark.parametrize("files", [False, True])
def test_an_optimizer_of_another_model_trains_nothing(files: bool, tmp_path: Path) -> None:
    """A cell of a notebook made the model again, and the optimizer has the old one."""
    model, old = affine(), nn.SGD(affine().parameters())
    options = {"checkpoint": tmp_path} if files else {}
    with pytest.raises(ArgumentError, match="the optimizer has no parameter of the Affine, so fit would not train it"):
        train(model, old, NEVER, **options)


def test_an_optimizer_of_frozen_parameters_trains_nothing() -> None:
    model = nn.Sequential(affine(), Affine(2, 2, rng=np.random.default_rng(1)))
    optimizer = nn.SGD(model.parameters())
    nn.add_lora(model, 1, rng=np.random.default_rng(2))
    with pytest.raises(
        ArgumentError, match=r"only frozen parameters of the Sequential .*make the optimizer after freezing"
    ):
        train(model, optimizer, NEVER)
    before = weights(model)
    train(model, nn.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1))
    assert weights(model) != before


def test_a_part_of_the_parameters_or_some_of_a_loss_too_are_trained() -> None:
    model, temperature = affine(), nn.Parameter(1.0, dtype=np.float32)
    before = model.bias.tolist()
    train(model, nn.SGD([model.weight], lr=0.1))
    assert model.bias.tolist() == before
    own: Any = lambda model, batch: nn.cross_entropy(model(batch[0]) * temperature, batch[1])
    train(model, nn.SGD([*model.parameters(), temperature], lr=0.1), own)
    assert model.bias.tolist() != before and temperature.item() != 1
    with pytest.raises(
        ArgumentError, match="changes 1 tensors that are not the model's, so a checkpoint would lack them"
    ):
        train(model, nn.SGD([*model.parameters(), temperature]), NEVER, checkpoint="never")


# --- the loss ---

HOW = r"fit calls loss\(model, batch\); .* write loss=lambda model, batch: nn.cross_entropy\(model\(batch\[0\]\), batch\[1\]\)"
LOSSES: dict[str, Any] = {
    "cross_entropy": nn.cross_entropy,
    "with a setting": functools.partial(nn.cross_entropy, label_smoothing=0.1),
    "mean_squared_error": nn.mean_squared_error,
    "binary_cross_entropy_with_logits": nn.binary_cross_entropy_with_logits,
    "of minigrad": mg.cross_entropy,
    "of operators": lambda predictions, targets: ((predictions - targets) ** 2).mean(),
    "of methods": lambda predictions, targets: predictions.mean(),
    "of three arguments": lambda model, x, y: nn.cross_entropy(model(x), y),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_of_predictions_is_told_how_fit_calls_it(name: str) -> None:
    model = affine()
    with pytest.raises((TypeError, AttributeError), match=HOW):
        train(model, adamw(model), LOSSES[name])


def test_other_errors_of_a_loss_are_left_alone() -> None:
    """In the forward pass of a module, or after the first step."""
    model = affine()
    with pytest.raises(DTypeError) as raised:
        train(model, adamw(model), lambda model, batch: model(batch[0] * 1j).sum())
    assert "fit calls" not in str(raised.value)

    late = stopping(loss, 1, lambda: None + 1)  # type: ignore[operator]
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+: 'NoneType' and 'int'$"):
        train(model, adamw(model), late)


# --- files ---


def odd(model: Module) -> Module:
    vars(model)["odd"] = nn.Buffer(np.zeros(2, np.complex128))
    return model


def twice(model: Module) -> Module:
    vars(model)["a.b"], vars(model)["a"] = nn.Buffer(np.zeros(2)), {"b": nn.Buffer(np.zeros(2))}
    return model


class Odd(Batches):
    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"source": Path}


def test_what_cannot_be_written_is_found_before_the_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "last.safetensors").mkdir()
    (tmp_path / "other" / "best.safetensors").mkdir(parents=True)
    with pytest.raises(ArgumentError, match=r"'.*last.safetensors' must be a file, and there is a folder"):
        run(tmp_path, loss=NEVER, resume=False)
    with pytest.raises(ArgumentError, match=r"'.*best.safetensors' must be a file, and there is a folder"):
        run(tmp_path / "other", loss=NEVER)
    for change, words in ((odd, "'model.odd' is complex128"), (twice, "have the path 'a.b'")):
        model = change(affine())
        with pytest.raises(ArgumentError, match=words):
            train(model, nn.SGD(model.parameters()), NEVER, checkpoint=tmp_path / "new")
        assert model.training
    model = affine()
    with pytest.raises(CheckpointError, match="must consist of JSON values"):
        fit(model, Odd([X, Y], 8, seed=0), NEVER, adamw(model), epochs=1, checkpoint=tmp_path / "new", progress=False)

    def full(*paths: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ArgumentError, match=r"no file can be written in '.*new' \(No space left on device\)"):
        run(tmp_path / "new", loss=NEVER)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_complete_run_is_read_from_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, _ = run(tmp_path, epochs=1)
    monkeypatch.setattr(os, "replace", fail)
    assert run(tmp_path, epochs=1)[0] == history


# --- metrics ---


def test_a_metric_that_is_nan_is_said() -> None:
    model, values = Net(), iter([0.5, math.nan, 0.4, math.nan, math.nan, 0.1])

    def score(model: Module) -> dict[str, float]:
        return {"score": next(values), "other": math.nan}

    with pytest.warns(UserWarning) as said:
        history = train(model, adamw(model), epochs=6, validate=score, best=("min", "score"), patience=2)
    words = "validate returned NaN for 'score' after epoch {} (epochs count from 0): the epoch counts as one without"
    assert [str(one.message).removesuffix(" improvement") for one in said] == [
        words.format(epoch) for epoch in (1, 3, 4)
    ]
    assert {Path(one.filename).name for one in said} == {Path(__file__).name}  # the line that called fit
    assert len(history.metrics) == 5
    plateau = nn.PlateauSchedule(0.1, ("min", "loss"), patience=1)
    with pytest.warns(UserWarning, match="validate returned NaN for 'loss' after epoch 0"):
        train(model, adamw(model), schedule=plateau, validate=lambda model: {"loss": math.nan})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model, adamw(model), validate=lambda model: {"loss": math.nan})  # nothing depends on it
