"""fit against a loop written by hand, to the bit; validation, early stopping, accumulation; what goes wrong."""

import copy
import math
import re
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import AnomalyError, ArgumentError, Tensor, detect_anomaly
from minigrad.engine.modes import recording
from nn import Affine, Batches, Dropout, History, Module, TrainingError, fit
from nn.parallel.one_process import OneProcess
from tests.nn.training import X, Y, adamw, ctrl_c, loss, schedule, weights


class Net(Module):
    """Two Affines with a Dropout between."""

    def __init__(self, seed: int = 0, p: float = 0.3, dtype: Any = np.float32) -> None:
        rng = np.random.default_rng(seed)
        self.hidden, self.dropout = Affine(4, 8, rng=rng, dtype=dtype), Dropout(p, rng=rng)
        self.output = Affine(8, 2, rng=rng, dtype=dtype)

    def forward(self, x: Any) -> Any:
        return self.output(self.dropout(np.tanh(self.hidden(x))))


def accuracy(model: Module) -> dict[str, float]:
    return {"accuracy": float((model(X).numpy().argmax(-1) == Y).mean())}


def batches(size: int = 8, seed: int = 5) -> Batches:
    return Batches([X, Y], size, seed=seed)


def run(model: Module, **options: Any) -> History:
    """Three epochs of AdamW."""
    return fit(model, batches(), loss, adamw(model), **({"epochs": 3, "progress": False} | options))


# --- the loop ---


def test_it_is_the_loop_written_by_hand_to_the_bit() -> None:
    ours, theirs = Net(), Net()
    history = run(ours, schedule=schedule, clip_norm=0.5, validate=accuracy)
    losses: list[float] = []
    metrics: list[dict[str, float]] = []
    optimizer = adamw(theirs)
    for epoch in range(3):
        theirs.train()
        for batch in batches().epoch(epoch):
            optimizer.zero_grad()
            value = loss(theirs, batch)
            value.backward()
            nn.clip_grad_norm(theirs.parameters(), 0.5)
            optimizer.lr = schedule(len(losses))
            optimizer.step()
            losses.append(value.item())
        theirs.eval()
        metrics.append(accuracy(theirs))
    assert history == History(losses, metrics)
    assert len(losses) == 15
    assert weights(ours) == weights(theirs)


def test_gradients_can_be_clipped_by_value() -> None:
    """As ``clip_grad_value`` by hand, after the norm."""
    ours, theirs = Net(), Net()
    run(ours, epochs=1, clip_norm=0.5, clip_value=0.01)
    optimizer = adamw(theirs)
    for batch in batches().epoch(0):
        optimizer.zero_grad()
        loss(theirs, batch).backward()
        nn.clip_grad_norm(theirs.parameters(), 0.5)
        nn.clip_grad_value(theirs.parameters(), 0.01)
        optimizer.step()
    assert weights(ours) == weights(theirs)
    plain = Net()
    run(plain, epochs=1, clip_norm=0.5)
    assert weights(ours) != weights(plain)


def test_it_learns() -> None:
    model = Net(p=0)
    history = run(model, epochs=30, validate=accuracy)
    assert history.metric("accuracy")[-1] > 0.95
    assert history.losses[-1] < 0.3 < history.losses[0]


def test_without_schedule_the_rate_of_the_optimizer_stays() -> None:
    model = Net()
    optimizer = adamw(model)
    fit(model, batches(), loss, optimizer, epochs=1, progress=False)
    assert optimizer.lr == 0.05


@pytest.mark.parametrize("optimizer", [nn.SGD, nn.AdaGrad, nn.RMSProp, nn.Adam, nn.AdamW])
def test_accumulated_batches_are_one_batch_of_their_size(optimizer: Any) -> None:
    """37 examples in batches of 4 make steps of 12, 12 and 13 = 4 + 4 + 4 + 1 in groups of three: 12, 12, 12 and 1."""
    small, large = Net(p=0, dtype=np.float64), Net(p=0, dtype=np.float64)
    settings: Any = {"epochs": 2, "progress": False, "clip_norm": 0.1}
    mini = fit(small, batches(4), loss, optimizer(small.parameters(), lr=0.01), accumulate=3, **settings)
    full = fit(large, batches(12), loss, optimizer(large.parameters(), lr=0.01), **settings)
    assert len(mini.losses) == len(full.losses) == 8
    np.testing.assert_allclose(mini.losses, full.losses, rtol=1e-12)
    for ours, theirs in zip(small.parameters(), large.parameters()):
        np.testing.assert_allclose(ours.data, theirs.data, rtol=0, atol=1e-10)


def test_batches_of_different_sizes_count_by_their_examples() -> None:
    """Two batches of 5 and 3 in one step are the batch of 8."""
    small, large = Net(p=0, dtype=np.float64), Net(p=0, dtype=np.float64)
    x, y = X[:8], Y[:8]
    mini = fit(
        small, Batches([x, y], 5, seed=0), loss, nn.SGD(small.parameters()), epochs=1, accumulate=4, progress=False
    )
    full = fit(large, Batches([x, y], 8, seed=0), loss, nn.SGD(large.parameters()), epochs=1, progress=False)
    np.testing.assert_allclose(mini.losses, full.losses, rtol=1e-12)
    for ours, theirs in zip(small.parameters(), large.parameters()):
        np.testing.assert_allclose(ours.data, theirs.data, rtol=0, atol=1e-14)


def test_a_batch_may_be_anything_that_the_loss_takes() -> None:
    class Own:
        def __len__(self) -> int:
            return 2

        def epoch(self, n: int) -> Any:
            return iter([{"x": X[:4], "y": Y[:4]}, {"x": X[4:6], "y": Y[4:6]}])

    for accumulate in (1, 2):
        model = Net()
        history = fit(
            model,
            Own(),
            lambda model, batch: nn.cross_entropy(model(batch["x"]), batch["y"]),
            adamw(model),
            epochs=2,
            accumulate=accumulate,
            progress=False,
        )
        assert len(history.losses) == 4 // accumulate


# --- modes and validation ---


def test_training_and_validation_have_their_modes_and_evaluation_is_left() -> None:
    model, seen = Net(), []

    def watched(model: Any, batch: Any) -> Tensor:
        seen.append((model.dropout.training, recording()))
        return loss(model, batch)

    def validate(model: Any) -> dict[str, float]:
        seen.append((model.dropout.training, recording()))
        return {}

    model.eval()  # as after an earlier fit
    fit(model, batches(40), watched, adamw(model), epochs=2, validate=validate, progress=False)
    assert seen == [(True, True), (False, False)] * 2
    assert modes(model) == {False}


def modes(model: Module) -> set[bool]:
    return {module.training for module in model.modules()}


ENDS: dict[str, tuple[dict[str, Any], type[BaseException] | None]] = {
    "done": ({}, None),
    "validated": ({"validate": lambda model: model.train() and {}}, None),
    "out of patience": ({"validate": lambda model: {"a": 1}, "best": ("min", "a"), "patience": 1}, None),
    "parallel": ({"parallel": OneProcess()}, None),
    "error in validate": ({"validate": lambda model: 1 / 0}, ZeroDivisionError),
    "no numbers": ({"validate": lambda model: 3}, ArgumentError),
    "error in on_step": ({"on_step": lambda: 1 / 0}, ZeroDivisionError),
    "error in schedule": ({"schedule": lambda step: 1 / 0}, ZeroDivisionError),
    "Ctrl-C in on_step": ({"on_step": ctrl_c}, KeyboardInterrupt),
    "Ctrl-C in validate": ({"validate": lambda model: ctrl_c()}, KeyboardInterrupt),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("training", [True, False])
def test_predictions_after_fit_are_without_dropout_however_it_ended(end: str, training: bool) -> None:
    options, error = ENDS[end]
    model = Net().train(training)
    with nullcontext() if error is None else pytest.raises(error):
        run(model, epochs=3, **options)
    assert modes(model) == {False} and recording()
    np.testing.assert_array_equal(model(X).numpy(), model(X).numpy())


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_so_it_is_after_an_error_of_the_loss_or_a_nan(error: type[BaseException]) -> None:
    def broken(model: Any, batch: Any) -> Tensor:
        raise error

    for wrong, raised in ((broken, error), (lambda model, batch: loss(model, batch) * math.nan, TrainingError)):
        model = Net()
        with pytest.raises(raised):
            fit(model, batches(40), wrong, adamw(model), epochs=2, progress=False)
        assert modes(model) == {False}


def test_a_resumed_run_and_one_that_was_complete_leave_evaluation(tmp_path: Path) -> None:
    run(Net(), epochs=1, checkpoint=tmp_path)
    for epochs in (2, 2):
        model, seen = Net(), []
        run(model, epochs=epochs, checkpoint=tmp_path, resume=True, on_step=lambda: seen.append(modes(model)))  # noqa: B023
        assert modes(model) == {False} and all(found == {True} for found in seen)


def test_what_is_refused_leaves_the_mode(tmp_path: Path) -> None:
    run(Net(), epochs=1, checkpoint=tmp_path)
    for options in ({"checkpoint": tmp_path, "resume": True, "clip_norm": 3.0}, {"epochs": 0}):
        model = Net()
        model.dropout.eval()
        with pytest.raises(ArgumentError):
            run(model, **options)
        assert (model.training, model.dropout.training) == (True, False)


@pytest.mark.parametrize("who", ["on_step", "loss", "batches"])
def test_each_step_trains_in_training_mode_whoever_looks_at_predictions(who: str) -> None:
    """A program that predicts between two steps may forget to switch back."""
    model, seen = Net(), []

    def look() -> None:
        model.eval()(X)

    def watched(model: Any, batch: Any) -> Tensor:
        seen.append(modes(model))
        value = loss(model, batch)
        if who == "loss":
            look()
        return value

    class Looking(Batches):
        def epoch(self, n: int) -> Any:
            for batch in super().epoch(n):
                if who == "batches":
                    look()
                yield batch

    data = Looking([X, Y], 8, seed=5)
    on_step = look if who == "on_step" else None
    fit(model, data, watched, adamw(model), epochs=2, accumulate=2, on_step=on_step, progress=False)
    assert seen == [{True}] * len(seen) and len(seen) > 5


def test_metrics_may_be_arrays_and_tensors_with_one_number() -> None:
    history = run(
        Net(), epochs=1, validate=lambda model: {"a": np.float32(0.5), "b": np.array(2), "c": model(X).mean()}
    )
    assert history.metrics[0].keys() == {"a", "b", "c"}
    assert all(type(value) is float for value in history.metrics[0].values())


@pytest.mark.parametrize(
    ("how", "values", "epochs"),
    [
        ("max", [0.5, 0.6, 0.6, 0.4, 0.9], 4),  # an equal value is no better one
        ("min", [0.5, 0.4, 0.3, 0.6, 0.5], 5),
        ("max", [math.nan, math.nan, 0.1, 0.2], 2),
        ("max", [0.1, math.nan, 0.2, math.nan, 0.1, 0.3], 5),
    ],
)
@pytest.mark.filterwarnings("ignore:validate returned NaN")
def test_it_stops_when_the_best_epoch_is_too_long_ago(how: Any, values: list[float], epochs: int) -> None:
    given = iter(values)
    history = run(
        Net(), epochs=len(values), validate=lambda model: {"score": next(given)}, best=(how, "score"), patience=2
    )
    np.testing.assert_array_equal(history.metric("score"), values[:epochs])


def test_the_river_has_the_gradients_of_each_step_before_they_are_clipped() -> None:
    """The root mean square of each parameter's gradient, as the numbers that clip_norm has scaled give it again."""
    model, sizes = Net(), []

    def note() -> None:
        sizes.append({name: float(np.sqrt(np.mean(p.grad**2))) for name, p in model.named_parameters()})

    history = run(model, epochs=2, river=True, clip_norm=1e-3, on_step=note)
    assert run(Net(), epochs=1).river is None
    assert len(sizes) == len(history.losses)
    for size, step in zip(sizes, history.river.steps):
        name = max(size, key=lambda name: size[name])
        assert (step.key, step.number) == (name, len(size))
        assert step.low / step.most == pytest.approx(min(size.values()) / size[name], rel=1e-5)
        assert step.most > 10 * size[name]  # 1e-3 was the norm of all gradients after the clipping
    shown = history._repr_html_()
    assert "<table" in shown
    assert f"({history.river.steps[0].key})" in shown


@pytest.mark.parametrize(("values", "best"), [([0.1, 0.7, 0.7, 0.3], 1), ([0.1, 0.2, 0.3], 2), ([math.nan] * 2, None)])
@pytest.mark.filterwarnings("ignore:validate returned NaN")
def test_restore_best_leaves_the_weights_of_the_best_epoch(values: list[float], best: int | None) -> None:
    given, states = iter(values), []

    def score(model: Any) -> dict[str, float]:
        states.append(model.state_dict())
        return {"score": next(given)}

    model = Net()
    arrays = [parameter.data for parameter in model.parameters()]
    run(model, epochs=len(values), validate=score, best=("max", "score"), restore_best=True)
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, states[-1 if best is None else best][name])
    assert all(parameter.data is array for parameter, array in zip(model.parameters(), arrays))


# --- history ---


def test_a_plot_has_the_losses_their_means_and_each_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    drawn: list[Any] = []
    kept = figures.Figure.savefig

    def savefig(figure: Any, *arguments: Any, **settings: Any) -> None:
        drawn.append(figure)
        kept(figure, *arguments, **settings)

    monkeypatch.setattr(figures.Figure, "savefig", savefig)
    history = History([4.0, 2.0, 1.0, 0.5], [{"a": 0.1}, {"a": 0.2, "$b": 3.0}])
    assert history.plot(tmp_path / "run.svg").stat().st_size > 1000
    loss, a, b = drawn[0].axes
    np.testing.assert_array_equal(loss.lines[0].get_ydata(), history.losses)
    np.testing.assert_array_equal(loss.lines[1].get_xydata(), [(0.5, 3.0), (2.5, 0.75)])
    np.testing.assert_array_equal(a.lines[0].get_xydata(), [(1, 0.1), (2, 0.2)])
    np.testing.assert_array_equal(b.lines[0].get_xydata(), [(1, math.nan), (2, 3.0)])
    assert [axes.get_title() for axes in (loss, a, b)] == ["loss", "a", r"\$b"] and loss.get_yscale() == "log"
    History([1.0, 0.0, -1.0]).plot(tmp_path / "run.png")  # below zero, and no metric
    assert drawn[1].axes[0].get_yscale() == "linear"
    with pytest.raises(ArgumentError, match="there is nothing to plot: the history has no loss"):
        History().plot(tmp_path / "none.png")
    with pytest.raises(ArgumentError, match="names no format"):
        history.plot(tmp_path / "run.gif")


def test_history_goes_to_a_dict_and_back() -> None:
    history = History([0.5, 0.25], [{"accuracy": 0.75}, {}])
    assert History.from_dict(copy.deepcopy(history.to_dict())) == history
    np.testing.assert_array_equal(history.metric("accuracy"), [0.75, math.nan])
    with pytest.raises(ArgumentError, match=r"there is no metric 'loss': the last epoch has \['accuracy'\]"):
        History([], [{"accuracy": 1.0}]).metric("loss")
    with pytest.raises(ArgumentError, match="there is no metric 'loss'"):
        History([], [{"accuracy": 1.0}]).best_epoch(("min", "loss"))


def test_without_validation_every_epoch_has_empty_metrics() -> None:
    assert run(Net(), epochs=2).metrics == [{}, {}]


# --- the progress bar ---


@pytest.fixture(params=[None, "80"])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older versions of tqdm make the bar as wide as the terminal that these variables tell of, newer ones do not ask them."""
    for name in ("COLUMNS", "LINES"):
        if request.param is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, request.param)


@pytest.mark.usefixtures("columns")
def test_the_bar_shows_epoch_loss_and_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    history = run(Net(), epochs=2, validate=accuracy, progress=True)
    lines = capsys.readouterr().err.replace("\r", "\n")
    assert re.search(r"epoch 2/2: 100%\|█+\| 5/5 \[", lines)
    assert f"accuracy={history.metrics[1]['accuracy']:.4f}" in lines
    assert f"loss={np.mean(history.losses):.4f}" in lines


@pytest.mark.usefixtures("columns")
def test_the_bar_counts_the_steps_with_metrics_and_without(capsys: pytest.CaptureFixture[str]) -> None:
    for validate in (None, accuracy):
        run(Net(), epochs=1, validate=validate, progress=True)
        last = capsys.readouterr().err.split("\r")[-1]
        assert re.search(r"epoch 1/1: 100%\|█+\| 5/5 \[", last)


def test_without_tqdm_it_trains_without_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    model, same = Net(), Net()
    assert run(model, progress=True).losses == run(same).losses
    assert weights(model) == weights(same)
    assert capsys.readouterr() == ("", "")


# --- devices ---


def on_device(model: Module, put: Any) -> Module:
    for parameter in model.parameters():
        parameter.data = put(parameter.data)
    return model


def test_a_device_gives_the_same_losses(put: Any) -> None:
    def square(model: Module, batch: Any) -> Any:
        return (model(batch[0]) ** 2).mean()

    def train(model: Module, data: Batches) -> History:
        return fit(model, data, square, adamw(model), epochs=6, schedule=schedule, accumulate=2, progress=False)

    expected = train(Net(), Batches([X], 2, seed=5))
    model, data = on_device(Net(), put), Batches([put(X)], 2, seed=5)
    history = train(model, data)
    np.testing.assert_allclose(history.losses, expected.losses, rtol=1e-4)


def test_a_nan_on_a_device_is_found_at_once(put: Any) -> None:
    model: Any = on_device(Net(), put)
    calls = []

    def broken(model: Any, batch: Any) -> Tensor:
        calls.append(0)
        return loss(model, batch) * (math.nan if len(calls) == 3 else 1.0)

    with pytest.raises(TrainingError, match="the loss of step 2 is nan"):
        fit(model, Batches([put(X), Y], 8, seed=5), broken, adamw(model), epochs=2, progress=False)
    assert len(calls) == 3


# --- what goes wrong ---


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_before_it_changes_a_weight(value: float) -> None:
    model, states = Net(), []

    def broken(model: Any, batch: Any) -> Tensor:
        states.append(weights(model))
        return loss(model, batch) * (value if len(states) == 7 else 1.0)

    with pytest.raises(TrainingError, match=rf"the loss of step 6 is {value} .*learning rate.*detect_anomaly"):
        fit(model, batches(), broken, adamw(model), epochs=3, progress=False)
    assert len(states) == 7
    assert weights(model) == states[-1]


def test_a_gradient_that_is_not_finite_is_found_by_clipping() -> None:
    model = Net()
    before = weights(model)

    def broken(model: Any, batch: Any) -> Tensor:
        value = loss(model, batch)
        return value + 0 * np.sqrt(value - value.item())  # the derivative of the root at 0

    with pytest.raises(TrainingError, match=r"at step 0 the gradient of .* is not finite"), np.errstate(all="ignore"):
        fit(model, batches(), broken, adamw(model), epochs=1, clip_norm=1.0, progress=False)
    assert weights(model) == before


def test_inside_detect_anomaly_the_operation_is_named() -> None:
    def broken(model: Any, batch: Any) -> Any:
        return np.log(loss(model, batch) - 100)

    model = Net()
    with pytest.raises(AnomalyError, match="log"), detect_anomaly(), np.errstate(invalid="ignore"):
        fit(model, batches(), broken, adamw(model), epochs=1, progress=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epochs": 0}, "epochs must be a positive integer, got 0"),
        ({"epochs": 1.5}, "epochs must be a positive integer, got 1.5"),
        ({"accumulate": 0}, "accumulate must be a positive integer"),
        ({"clip_norm": 0}, "clip_norm must be positive, got 0"),
        ({"clip_value": -1}, "clip_value must be positive, got -1"),
        ({"patience": 0, "best": ("max", "accuracy"), "validate": accuracy}, "patience must be a positive integer"),
        ({"patience": 2}, r'patience needs best, .* best=\("max", "accuracy"\)'),
        ({"best": "accuracy", "validate": accuracy}, r'best must be \("min", name\) or .*, got \'accuracy\''),
        ({"best": ("most", "accuracy"), "validate": accuracy}, r'best must be \("min", name\)'),
        ({"best": ("max", "accuracy")}, "needs validate"),
        ({"restore_best": True}, r'restore_best needs best, .* best=\("max", "accuracy"\)'),
        ({"every": 5}, "every needs checkpoint"),
        ({"resume": True}, "resume needs checkpoint"),
    ],
)
def test_bad_settings_raise_before_anything_happens(options: dict[str, Any], words: str) -> None:
    model = Net()
    before = weights(model)
    with pytest.raises(ArgumentError, match=words):
        run(model, **options)
    assert weights(model) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(X, Y)], r"batches must have epoch\(n\) and len\(\), as nn.Batches\(...\) has, got list"),
        (None, "got NoneType"),
    ],
)
def test_batches_must_be_batches(given: Any, words: str) -> None:
    model = Net()
    with pytest.raises(ArgumentError, match=words):
        fit(model, given, loss, adamw(model), epochs=1, progress=False)


def test_an_epoch_without_batches_raises() -> None:
    class Empty:
        def __len__(self) -> int:
            return 0

        def epoch(self, n: int) -> Any:
            return iter([])

    model = Net()
    with pytest.raises(ArgumentError, match=r"there are no batches: batches.epoch\(0\) gave none"):
        fit(model, Empty(), loss, adamw(model), epochs=1, progress=False)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda model, batch: 0.5, r"must return a Tensor of shape \(\), got float: take a mean"),
        (lambda model, batch: model(batch[0]), r"got a Tensor of shape \(8, 2\)"),
    ],
)
def test_the_loss_must_be_one_number(bad: Any, words: str) -> None:
    model = Net()
    with pytest.raises(ArgumentError, match=words):
        fit(model, batches(), bad, adamw(model), epochs=1, progress=False)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (0.5, r'validate must return numbers by name, \{"accuracy": 0.9\}, got float'),
        ({"accuracy": "good"}, "validate must return numbers by name, got .*good"),
        ({"accuracy": X}, "validate must return numbers by name"),
        ({"loss": 0.5}, r"best names 'accuracy', but validate returns \['loss'\]"),
    ],
)
def test_validate_must_give_numbers_by_name(given: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        run(Net(), validate=lambda model: given, best=("max", "accuracy"))


def test_accumulation_needs_batches_that_have_a_length() -> None:
    class Own:
        def __len__(self) -> int:
            return 2

        def epoch(self, n: int) -> Any:
            return iter([0, 1])

    model = Net()
    with pytest.raises(ArgumentError, match="number of examples, and int has none: make each batch a tuple of arrays"):
        fit(model, Own(), lambda m, b: loss(m, (X, Y)), adamw(model), epochs=1, accumulate=2, progress=False)


def test_it_runs_in_a_thread() -> None:
    """Where Ctrl-C cannot be deferred, and does not arrive either."""
    results: list[History] = []
    thread = threading.Thread(target=lambda: results.append(run(Net())))
    thread.start()
    thread.join()
    assert results == [run(Net())]
