"""Callbacks: when fit calls them, what they measure, and what a checkpoint file holds of them."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError
from minigrad.serialize import CheckpointError, load_checkpoint
from tests.nn.training import Net, Stop, X, Y, content, fail, loss, run, stopping, weights


class Called(nn.Callback):
    """Notes its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def begin(self, run: Any) -> None:
        self.calls.append("begin")

    def after_backward(self, run: Any) -> None:
        self.calls.append(f"backward {run.step}")

    def after_update(self, run: Any) -> None:
        self.calls.append(f"update {run.step}")

    def between(self, run: Any) -> None:
        self.calls.append(f"between {run.step} {run.updates} {run.epoch}")

    def measure(self, run: Any) -> Any:
        self.calls.append(f"measure {run.model.training}")
        return {"steps": run.step}

    def end(self, run: Any, error: BaseException | None) -> None:
        self.calls.append(f"end {type(error).__name__}")


def test_each_moment_comes_in_its_order() -> None:
    called = Called()
    history, _ = run(epochs=1, accumulate=5, callbacks=[called])
    steps = [call for i in range(2) for call in (f"backward {i}", f"update {i + 1}", f"between {i + 1} {i + 1} 0")]
    assert called.calls == ["begin", *steps, "measure False", "between 2 0 1", "end NoneType"]
    assert history.metrics[0].keys() == {"accuracy", "loss", "steps"} and history.metric("steps") == [2]


def test_an_error_is_told_when_the_step_has_been_undone() -> None:
    seen: list[Any] = []

    class Looks(Called):
        def end(self, run: Any, error: BaseException | None) -> None:
            seen.append((type(error), [dropout.step for dropout in run.model.dropouts]))

    for how in (stopping(loss, 5, fail), stopping(loss, 4, lambda: 1 / 0)):
        with pytest.raises((Stop, ZeroDivisionError)):
            run(loss=how, callbacks=[Looks()])
    assert seen == [(Stop, [4, 4]), (ZeroDivisionError, [4, 4])]


def test_gradients_may_be_changed_and_the_training_ended() -> None:
    class Frozen(nn.Callback):
        def after_backward(self, run: Any) -> None:
            run.model.output.weight.grad = None

        def between(self, run: Any) -> None:
            if not run.updates and run.epoch == 2:
                run.epochs = run.epoch

    history, model = run(callbacks=[Frozen()])
    assert len(history.metrics) == 2
    np.testing.assert_array_equal(model.state_dict()["output.weight"], Net().output.weight.numpy())
    assert weights(model) != weights(Net())


def test_best_may_name_a_number_of_a_callback() -> None:
    history, _ = run(epochs=3, validate=None, best=("min", "steps"), patience=1, callbacks=[Called()])
    assert history.metric("steps") == [5, 10]
    lost = type("Lost", (nn.Callback,), {"measure": lambda self, run: {"steps": np.nan}})
    with pytest.warns(UserWarning, match="NaN for 'steps' after epoch 0"):
        run(epochs=1, validate=None, best=("min", "steps"), callbacks=[lost()])
    with pytest.raises(ArgumentError, match=r"best names 'loss', but validate returns \['steps'\]"):
        run(epochs=3, validate=None, callbacks=[Called()])


def averaged(folder: Path, **options: Any) -> Any:
    """A run that validates with an average of its weights."""
    averages: list[Any] = []  # of the model that run() makes

    def make(model: nn.Module) -> nn.Optimizer:
        averages.append(nn.WeightAverage(model, 0.5))
        return nn.AdamW(model.parameters(), lr=0.05)

    def validate(model: Any) -> dict[str, float]:
        with averages[0].applied():
            return {"loss": float(np.sum(model.output.weight.numpy()))}

    return run(folder, make=make, validate=validate, callbacks=averages, **options)


@pytest.mark.parametrize("call", [13, 20, 31])
def test_an_average_goes_on_where_it_stopped(call: int, tmp_path: Path) -> None:
    whole, model = averaged(tmp_path / "whole")
    with pytest.raises(Stop):
        averaged(tmp_path / "part", loss=stopping(loss, call, fail))
    history, again = averaged(tmp_path / "part", seed=9)
    assert history == whole and weights(again) == weights(model)
    assert content(tmp_path / "part" / "last.safetensors") == content(tmp_path / "whole" / "last.safetensors")


def test_an_average_of_other_weights_is_refused(tmp_path: Path) -> None:
    for part, words in (("hidden", None), ("output", r"does not fit: it has an average of other weights")):
        model: Any = Net()
        average = nn.WeightAverage(getattr(model, part))
        batches, sgd = nn.Batches([X, Y], 8, seed=0), nn.SGD(model.parameters())
        settings: Any = {"epochs": 1, "checkpoint": tmp_path, "resume": True, "progress": False}
        with nullcontext() if words is None else pytest.raises(CheckpointError, match=words):
            nn.fit(model, batches, loss, sgd, callbacks=[average], **settings)


def test_a_state_that_does_not_fit_is_named(tmp_path: Path) -> None:
    class Counts(nn.Callback):
        def __init__(self, most: int = 9) -> None:
            self.count, self.most = 0, most

        def after_update(self, run: Any) -> None:
            self.count += 1

        def state(self) -> dict[str, Any]:
            return {"count": self.count, "twice": np.array([2 * self.count])}

        def load(self, run: Any, saved: dict[str, Any]) -> None:
            self.count = saved.get("count", 0)
            if self.count > self.most:
                raise ArgumentError(f"it counts {self.count} and {saved['twice'][0]}")

    run(tmp_path, epochs=1, callbacks=[Counts()])
    arrays, about = load_checkpoint(tmp_path / "last.safetensors")
    assert (about["callbacks"], arrays["callbacks.Counts.twice"]) == ({"Counts": {"count": 5}}, [10])
    model = Net(7)
    before = weights(model)
    with pytest.raises(CheckpointError, match=r"last.safetensors' does not fit: it counts 5 and 10"):
        run(tmp_path, callbacks=[Counts(4)])
    assert weights(model) == before
    run(tmp_path, epochs=2)  # a run without it goes on, too, and the file has lost it
    counts = Counts()
    run(tmp_path, epochs=3, callbacks=[counts])
    assert counts.count == 5
    with pytest.raises(
        ArgumentError, match=r"two callbacks are a Counts, whose state .* make a subclass for one of them"
    ):
        run(tmp_path / "new", callbacks=[Counts(), Counts()])
    forgets: Any = type("Forgets", (nn.Callback,), {"state": lambda self: {}})
    with pytest.raises(ArgumentError, match=r"Forgets defines state\(\), and no load\(run, saved\)"):
        run(tmp_path / "new", callbacks=[forgets()])


class Keeps(nn.Callback):
    """Keeps what it is given, in a checkpoint file."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def state(self) -> Any:
        return self.kept

    def load(self, run: Any, saved: dict[str, Any]) -> None:
        self.kept = saved


def test_what_a_callback_keeps_comes_back(tmp_path: Path) -> None:
    kept = {"a": np.float64(1.5), "b": np.float32(2.5), "c": np.int64(3), "d": np.array(np.inf), "e": [-np.inf, "x"]}
    run(tmp_path, epochs=1, callbacks=[Keeps(kept)])
    again = Keeps({})
    run(tmp_path, epochs=2, callbacks=[again])
    assert again.kept == kept
    assert [type(again.kept[name]) for name in "abcde"] == [float, float, int, np.ndarray, list]
    for bad, words in (
        ({"nested": [np.ones(2)]}, r"Keeps.state\(\) must return arrays and JSON values by name: .* ndarray"),
        ([1.5], r"Keeps.state\(\) must be a dictionary, got \[1.5\]"),
    ):
        with pytest.raises(ArgumentError, match=words):
            run(tmp_path / "new", callbacks=[Keeps(bad)])


def test_what_is_no_callback_is_refused() -> None:
    class Lone(nn.Callback):
        def measure(self, run: Any) -> Any:
            return 0.5

    class Twice(Called):
        def measure(self, run: Any) -> Any:
            return {"accuracy": 1, "steps": 2}

    class Misspelt(nn.Callback):
        def after_step(self, run: Any) -> None:
            pass

    for given, words in (
        (Called, "callbacks must be a list"),
        ([Called], r"callbacks\[0\] must be a Callback"),
        ([Lone()], "Lone.measure must return numbers by name, .* got float"),
        ([Twice()], "validate and Twice.measure both return 'accuracy': rename one of them"),
        ([Misspelt()], "the callback Misspelt has no method that fit calls: begin, after_backward, after_update, "),
    ):
        with pytest.raises(ArgumentError, match=words):
            run(epochs=1, callbacks=given)
