"""fit: a run that was stopped anywhere goes on to the same losses, to the bit; what is never written."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, Tensor
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from nn import Module, TrainingError, checkpoint_files, load_weights
from tests.nn.training import (
    EPOCHS,
    STEPS,
    Stop,
    Whole,
    adamw,
    assert_resumes,
    ctrl_c,
    fail,
    loss,
    run,
    schedule,
    stopping,
    validate,
    weights,
    whole_run,
)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return whole_run(tmp_path_factory.mktemp("whole"))


def test_checkpoints_change_nothing(uninterrupted: Whole) -> None:
    history, model = run()
    assert (len(history.losses), len(history.metrics)) == (EPOCHS * STEPS, EPOCHS)
    assert (history, weights(model)) == (uninterrupted[0], uninterrupted[1])


@pytest.mark.parametrize("epochs", [1, 3, 4])
def test_a_run_goes_on_after_whole_epochs(epochs: int, tmp_path: Path, uninterrupted: Whole) -> None:
    run(tmp_path, epochs=epochs)
    assert_resumes(tmp_path, uninterrupted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", [0, 1, 2, 9, 10, 15, 37])
@pytest.mark.parametrize("how", [fail, ctrl_c])
def test_a_run_goes_on_from_any_batch(how: Any, call: int, tmp_path: Path, uninterrupted: Whole) -> None:
    """Within a step too: the batches of a step that was not made, and their dropout, come again."""
    with pytest.raises((Stop, KeyboardInterrupt)):
        run(tmp_path, loss=stopping(loss, call, how))
    assert (tmp_path / "last.safetensors").exists() == (call >= 2)  # nothing is written before the first step
    assert_resumes(tmp_path, uninterrupted)


def test_data_that_change_in_each_epoch_change_alike_in_a_resumed_run(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)

    def collate(indices: Any, epoch: int) -> Any:
        return x[indices] + np.random.default_rng([5, epoch, *indices]).normal(size=(len(indices), 3)).astype(
            np.float32
        )

    def losses(epochs: int, **options: Any) -> list[float]:
        model = nn.Affine(3, 1, rng=np.random.default_rng(1))
        batches = nn.Batches(len(x), 5, seed=0, shuffle=False, collate=collate)
        adam = nn.Adam(model.parameters(), lr=1e-5)  # what differs between epochs is the data
        fitted = nn.fit(model, batches, lambda m, b: (m(b) ** 2).mean(), adam, epochs=epochs, progress=False, **options)
        return fitted.losses

    whole = losses(4)
    assert abs(whole[0] - whole[3]) > 0.01
    losses(2, checkpoint=tmp_path)
    assert losses(4, checkpoint=tmp_path, resume=True) == whole


def test_a_run_may_stop_after_every_few_batches(tmp_path: Path, uninterrupted: Whole) -> None:
    for _ in range(6):
        with pytest.raises(Stop):
            run(tmp_path, loss=stopping(loss, 7, fail))
    assert_resumes(tmp_path, uninterrupted)


@pytest.mark.parametrize("call", [0, 2])
@pytest.mark.parametrize("how", [fail, ctrl_c])
def test_a_run_that_stopped_in_validation_validates_again(
    how: Any, call: int, tmp_path: Path, uninterrupted: Whole
) -> None:
    with pytest.raises((Stop, KeyboardInterrupt)):
        run(tmp_path, validate=stopping(validate, call, how))
    assert_resumes(tmp_path, uninterrupted)


@pytest.mark.parametrize("every", [1, 3, 5])
def test_a_killed_run_goes_on_from_its_last_periodic_checkpoint(
    every: int, tmp_path: Path, uninterrupted: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        """Without a chance to save."""
        monkeypatch.setattr(checkpoint_files, "save_checkpoint", lambda *arguments: fail())
        fail()

    with pytest.raises(Stop):
        run(tmp_path, every=every, loss=stopping(loss, 28, kill))
    monkeypatch.undo()
    arrays, _ = load_checkpoint(tmp_path / "last.safetensors")
    assert len(arrays["losses"]) == {1: 14, 3: 12, 5: 10}[every]
    assert_resumes(tmp_path, uninterrupted)


@pytest.mark.parametrize("make", [nn.SGD, nn.AdaGrad, nn.RMSProp, nn.Adam])
def test_other_optimizers_resume(make: Any, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"schedule": None}
    if make is nn.SGD:
        settings["make"] = lambda model: nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
    else:
        settings["make"] = lambda model: make(model.parameters(), lr=0.02)
    expected, expected_model = run(**settings)
    with pytest.raises(Stop):
        run(tmp_path, **settings, loss=stopping(loss, 13, fail))
    history, model = run(tmp_path, **settings, seed=3)
    assert history == expected
    assert weights(model) == weights(expected_model)


@pytest.mark.parametrize("call", [13, 20, 27])
@pytest.mark.filterwarnings("error")
def test_a_plateau_goes_on_from_the_metrics_of_the_file(call: int, tmp_path: Path) -> None:
    """Within an epoch and after one, without a warning of another schedule."""
    values = {1: 0.5, 2: 0.6, 3: 0.7, 4: 0.4}
    rates: list[float] = []
    made: list[nn.Optimizer] = []

    def make(model: Module) -> nn.Optimizer:
        made[:] = [nn.SGD(model.parameters(), lr=123.0)]
        return made[0]

    def score(model: Module) -> dict[str, float]:
        return {"score": values[len(rates) // STEPS]}

    settings: dict[str, Any] = {
        "make": make,
        "on_step": lambda: rates.append(made[0].lr),
        "validate": score,
        "best": None,
        "schedule": nn.PlateauSchedule(0.1, ("min", "score"), patience=0),
    }
    expected, expected_model = run(**settings)
    assert rates == pytest.approx([0.1] * 2 * STEPS + [0.01] * STEPS + [0.001] * STEPS)
    rates.clear()
    with pytest.raises(Stop):
        run(tmp_path, **settings, loss=stopping(loss, call, fail))
    history, model = run(tmp_path, **settings, seed=3)
    assert history == expected and weights(model) == weights(expected_model)


def test_a_plateau_needs_its_metric() -> None:
    plateau = nn.PlateauSchedule(0.1, ("min", "score"))
    with pytest.raises(ArgumentError, match="PlateauSchedule needs validate, which returns 'score'"):
        run(schedule=plateau, validate=None, best=None)
    with pytest.raises(ArgumentError, match="there is no metric 'score': the last epoch has"):
        run(schedule=plateau)


def test_patience_counts_the_epochs_before(tmp_path: Path) -> None:
    values = [0.5, 0.6, 0.55, 0.4, 0.3, 0.2]

    def score(model: Module) -> dict[str, float]:
        return {"score": values[len(seen)]} | {"calls": float(seen.append(0) or 0)}  # type: ignore[func-returns-value]

    seen: list[int] = []
    settings: dict[str, Any] = {"validate": score, "best": ("max", "score"), "patience": 2}
    for epochs in (1, 3, 6, 6):
        history, _ = run(tmp_path, epochs=epochs, **settings)
    assert history.metric("score") == values[:4]
    assert len(seen) == 4  # the last run found that patience was out


def test_a_run_that_is_complete_gives_its_history(tmp_path: Path) -> None:
    expected, model = run(tmp_path)
    history, again = run(tmp_path, seed=1)
    assert history == expected
    assert weights(again) == weights(model)


def test_without_resume_a_run_starts_anew(tmp_path: Path, uninterrupted: Whole) -> None:
    run(tmp_path, epochs=2, seed=4)
    history, _ = run(tmp_path, resume=False)
    assert history == uninterrupted[0]


def test_the_best_checkpoint_is_of_the_best_epoch(tmp_path: Path) -> None:
    given = iter([0.1, 0.7, 0.7, 0.3])
    states: list[list[bytes]] = []

    def score(model: Module) -> dict[str, float]:
        states.append(weights(model))
        return {"score": next(given)}

    _, model = run(tmp_path / "run.safetensors", validate=score, best=("max", "score"), every=2)
    assert weights(model) == states[3]
    assert {path.name for path in tmp_path.iterdir()} == {"run.safetensors", "run.best.safetensors"}
    load_weights(model, tmp_path / "run.best.safetensors")
    assert weights(model) == states[1]
    load_weights(model, tmp_path / "run.safetensors")
    assert weights(model) == states[3]


def test_restore_best_knows_the_epochs_before(tmp_path: Path) -> None:
    states: list[list[bytes]] = []
    given = iter([0.1, 0.7, 0.6, 0.3, 0.2, 0.1])

    def score(model: Module) -> dict[str, float]:
        states.append(weights(model))
        return {"score": next(given)}

    settings: dict[str, Any] = {"validate": score, "best": ("max", "score"), "restore_best": True}
    _, model = run(tmp_path, epochs=3, **settings)
    assert weights(model) == states[1]
    _, model = run(tmp_path, epochs=4, **settings)
    assert weights(model) == states[1]
    load_weights(model, tmp_path / "last.safetensors")
    assert weights(model) == states[3]
    with pytest.raises(CheckpointError, match=r"needs the weights of epoch 0, and .* has those of epoch 1"):
        run(tmp_path, epochs=5, **(settings | {"best": ("min", "score")}))


def test_the_river_of_gradients_goes_on(tmp_path: Path) -> None:
    """Its numbers are those of a run that was not stopped, also after an error between the backward pass and the update."""
    whole, _ = run(river=True)

    def late(step: int) -> float:
        if step == 7:
            raise Stop
        return schedule(step)

    with pytest.raises(Stop):
        run(tmp_path, river=True, schedule=late)
    history, _ = run(tmp_path, seed=99, river=True)
    assert history.river.steps == whole.river.steps
    assert len(history.river.steps) == len(history.losses)


def test_a_river_that_begins_late_or_is_damaged(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    history, _ = run(tmp_path, epochs=2, river=True)
    assert [step.number > 0 for step in history.river.steps] == [False] * STEPS + [True] * STEPS
    arrays, about = load_checkpoint(tmp_path / "last.safetensors")
    save_checkpoint(
        tmp_path / "last.safetensors", arrays | {"callbacks.River.steps": arrays["callbacks.River.steps"][:-1]}, about
    )
    with pytest.raises(CheckpointError, match=r"its river of gradients does not fit its 10 steps: .* river=False"):
        run(tmp_path, epochs=3, river=True)
    assert run(tmp_path, epochs=3)[0].river is None


def test_what_is_in_a_checkpoint(tmp_path: Path) -> None:
    history, model = run(tmp_path)
    arrays, about = load_checkpoint(tmp_path / "last.safetensors")
    np.testing.assert_array_equal(arrays["losses"], history.losses)
    np.testing.assert_array_equal(arrays["model.output.weight"], model.state_dict()["output.weight"])
    assert {"optimizer.0.m", "optimizer.0.v"} < arrays.keys()
    assert about["metrics"] == history.metrics
    assert (about["model"], about["optimizer"]["name"], about["updates"]) == ("Net", "AdamW", 0)
    assert about["numbers"]["dropouts.1.step"] == EPOCHS * 10
    assert about["run"]["batches"]["seed"] == 5


# --- bad numbers ---


def test_a_loss_that_is_not_finite_leaves_the_last_good_checkpoint(tmp_path: Path, uninterrupted: Whole) -> None:
    count = iter(range(1000))

    def broken(model: Module, batch: Any) -> Tensor:
        return loss(model, batch) * (math.nan if next(count) == 25 else 1.0)

    with pytest.raises(
        TrainingError, match=r"the loss of step 12 is nan.*last.safetensors', written after 10 steps, is unchanged"
    ):
        run(tmp_path, loss=broken)
    assert_resumes(tmp_path, uninterrupted)


def test_weights_that_are_not_finite_are_never_written(tmp_path: Path, uninterrupted: Whole) -> None:
    run(tmp_path, epochs=1)

    def make(model: Module) -> nn.Optimizer:
        optimizer = adamw(model)
        step = optimizer.step

        def poisoned() -> None:
            step()
            next(iter(model.parameters())).data[0, 0] = math.inf

        optimizer.step = stopping(step, 3, poisoned)  # type: ignore[method-assign]
        return optimizer

    with pytest.raises(TrainingError, match=r"after step 8 model.hidden.weight contains NaN or infinity"):
        run(tmp_path, make=make, every=3, loss=lambda model, batch: loss(model, batch).clip(0, 9))
    assert_resumes(tmp_path, uninterrupted)
