"""A checkpoint is the state at a step boundary: for everything in a model that a forward pass changes."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import Tensor
from minigrad.serialize import CheckpointError, load_checkpoint, save_checkpoint
from nn import Batches, Module
from nn.step_state import StepState
from tests.nn import training
from tests.nn.test_train_interrupts import CtrlCAtLine
from tests.nn.training import Stop, content, ctrl_c, fail, loss, stopping

X, Y = training.X[:34], training.Y[:34]  # nine batches of 4, the last of 2
EPOCHS = 3


class Noise(Module):
    """Everything that a forward pass may change, and does: whatever moves once too often shows in the losses."""

    def __init__(self, seed: int, kind: Any = np.random.PCG64) -> None:
        self.rng = np.random.Generator(kind(seed))
        self.calls, self.scale = 0, 1.0
        self.counts = {"rows": 0, "factor": 0.5}  # only the first changes
        self.count = nn.Buffer(0)
        self.in_place = nn.Buffer(np.zeros(8, np.float32))
        self.exchanged = nn.Buffer(np.zeros(8, np.float32))

    def forward(self, x: Any) -> Any:
        if self.training:
            self.calls += 1
            self.scale = 1 / (1 + self.calls)
            self.counts["rows"] += len(x)
            self.count.data = self.count.data + 1
            self.in_place.data += x.numpy().mean(axis=0)
            self.exchanged = nn.Buffer(0.9 * self.exchanged.data + x.numpy().max(axis=0))
            self.late = self.calls + 1
            x = x + self.scale * self.rng.normal(size=x.shape).astype(np.float32) / (1 + self.counts["rows"])
        return (
            x
            + 0.01 * self.in_place
            + 0.001 * getattr(self, "late", 0)
            + 0.01 * self.exchanged / (1 + int(self.count.data))
        )


class Moving(Module):
    """Parts that a forward pass changes, in lists, dicts and tuples."""

    def __init__(self, seed: int = 0, kind: Any = np.random.PCG64) -> None:
        rng = np.random.default_rng(seed)
        self.hidden = nn.Affine(4, 8, rng=rng)
        self.parts: Any = {"norm": [nn.BatchNorm(8)], "rest": (nn.Dropout(0.3, rng=rng), [Noise(seed, kind)])}
        self.output = nn.Affine(8, 2, rng=rng)

    def forward(self, x: Any) -> Any:
        norm, (dropout, (noise,)) = self.parts["norm"][0], self.parts["rest"]
        return self.output(noise(dropout(norm(self.hidden(x)))))


def run(
    checkpoint: Path | None, seed: int = 0, *, loss: Any = loss, kind: Any = np.random.PCG64, **options: Any
) -> Any:
    model = options.pop("model", None) or Moving(seed, kind)
    settings: dict[str, Any] = {"epochs": EPOCHS, "progress": False, "accumulate": 2, "every": 3} | options
    settings |= {"checkpoint": checkpoint, "resume": True} if checkpoint else {}
    settings["every"] = settings["every"] if checkpoint else None
    optimizer = nn.AdamW(model.parameters(), lr=0.05)
    return nn.fit(model, Batches([X, Y], 4, seed=5), loss, optimizer, **settings), model


def state(model: Module) -> dict[str, Any]:
    own = StepState(model, nn.SGD(model.parameters()))
    own._first_numbers.clear()
    arrays, about = own.collect()
    return {name: array.tolist() for name, array in arrays.items()} | {
        name: about[name] for name in ("generators", "numbers")
    }


def assert_resumes(folder: Path, whole: Path, **options: Any) -> None:
    """The rest of the run, with a model that starts from other state, ends where the whole run did."""
    history, model = run(folder, 99 if (folder / "last.safetensors").exists() else 0, **options)
    expected, expected_model = run(whole, **options)  # complete: it only gives what it has
    assert history == expected
    assert state(model) == state(expected_model)
    assert content(folder / "last.safetensors") == content(whole / "last.safetensors")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("accumulate", [1, 2, 3])
@pytest.mark.parametrize("how", [fail, ctrl_c])
def test_a_stop_in_any_batch_undoes_its_step(how: Callable[[], None], accumulate: int, tmp_path: Path) -> None:
    """After the forward pass of a batch: the batch is not counted twice."""
    run(tmp_path / "whole", accumulate=accumulate)
    for call in (0, 1, 2, 5, 9, 10, 14, 19, 25):
        then = stopping(lambda: None, call, how)
        with pytest.raises((Stop, KeyboardInterrupt)):
            run(
                tmp_path / str(call),
                accumulate=accumulate,
                loss=lambda model, batch: (loss(model, batch), then())[0],  # noqa: B023 - runs within this round
            )
        assert_resumes(tmp_path / str(call), tmp_path / "whole", accumulate=accumulate)


def test_after_a_stop_the_model_in_memory_is_between_two_steps() -> None:
    """Without a checkpoint folder, too; the parameters are those after the last update."""
    stopped, twin = Moving(), Moving()
    with pytest.raises(Stop):
        run(None, model=stopped, accumulate=1, loss=lambda model, batch: (loss(model, batch), late())[0])
    with pytest.raises(Stop):
        run(None, model=twin, accumulate=1, loss=stopping(loss, 7, fail))
    assert state(stopped) == state(twin)


late = stopping(lambda: None, 7, fail)


class CtrlCInForward(CtrlCAtLine):
    FILES = (
        "nn/training.py",
        "nn/step_state.py",
        "checkpoint_files.py",
        "normalization.py",
        "dropout.py",
        "test_step_state.py",
        "averaging.py",
    )


@pytest.mark.parametrize(
    ("first", "stride"),
    [(1, 331), *(pytest.param(first, 60, marks=pytest.mark.thorough) for first in range(1, 60, 10))],
)
def test_ctrl_c_before_any_line_of_a_step_is_at_a_step_boundary(first: int, stride: int, tmp_path: Path) -> None:
    """Also in the program's own part of a step: a forward pass, `on_step`, and validation with an average."""

    def settings(model: Any) -> dict[str, Any]:
        average, target = nn.WeightAverage(model, decay=0.5), model.parts["rest"][1][0].in_place

        def follow() -> None:
            average.update()
            target.data += 0.01 * model.output.weight.data.sum()
            target.data *= 0.9

        def validate(model: Module) -> dict[str, float]:
            average.update()  # after a resumption there is none yet
            with average.applied():
                return {"sum": float(len(model(X).numpy()))}

        return {"model": model, "on_step": follow, "validate": validate, "epochs": 2, "every": 2}

    with CtrlCInForward(10**9) as counter:
        run(tmp_path / "whole", **settings(Moving()))
    count = 10**9 - counter.left
    assert count > 2000
    for line in range(first, count, stride):
        folder = tmp_path / str(line)
        with pytest.raises(KeyboardInterrupt), CtrlCInForward(line):
            run(folder, **settings(Moving()))
        run(folder, **settings(Moving(99 if (folder / "last.safetensors").exists() else 0)))
        assert content(folder / "last.safetensors") == content(tmp_path / "whole" / "last.safetensors"), line


def test_an_error_in_on_step_leaves_the_file_of_the_boundary_before(tmp_path: Path) -> None:
    """It may have changed a part of the model. The file before it is right."""
    run(tmp_path / "whole")
    for call in (0, 3, 7):
        with pytest.raises(Stop):
            run(tmp_path / str(call), on_step=stopping(lambda: None, call, fail))
        file = tmp_path / str(call) / "last.safetensors"
        assert (len(load_checkpoint(file)[0]["losses"]) if file.exists() else 0) == {0: 0, 3: 3, 7: 6}[call]
        assert_resumes(tmp_path / str(call), tmp_path / "whole")


def test_a_stop_while_an_average_is_applied_saves_the_model(tmp_path: Path) -> None:
    """Also if the program never comes to the line that puts the model's own weights back."""
    run(tmp_path / "whole", validate=lambda model: {})
    count = iter(range(100))

    def validate(model: Module) -> dict[str, float]:
        if next(count) == 1:
            for parameter in model.parameters():
                parameter.data[...] = 7.0
            raise KeyboardInterrupt
        return {}

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "stopped", validate=validate)
    assert_resumes(tmp_path / "stopped", tmp_path / "whole", validate=lambda model: {})


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_every_kind_of_generator_goes_on(kind: Any, tmp_path: Path) -> None:
    run(tmp_path / "whole", kind=kind)
    with pytest.raises(Stop):
        run(tmp_path / "stopped", kind=kind, loss=stopping(loss, 13, fail))
    assert_resumes(tmp_path / "stopped", tmp_path / "whole", kind=kind)


def test_what_the_file_holds(tmp_path: Path) -> None:
    """Numbers that the run did not change are settings of the model: the file neither holds nor overwrites them."""
    _, model = run(tmp_path)
    _, about = load_checkpoint(tmp_path / "last.safetensors")
    calls, noise = EPOCHS * 9, "parts.rest.1.0"
    changed = {"calls": calls, "late": calls + 1, "scale": 1 / (1 + calls), "counts.rows": EPOCHS * len(X)}
    dropout = model.parts["rest"][0]
    masks = {"parts.rest.0.key": dropout.key, "parts.rest.0.step": calls}
    assert about["numbers"] == {f"{noise}.{name}": value for name, value in changed.items()} | masks
    assert list(about["generators"]) == [f"{noise}.rng"]
    other: Any = Moving(3)
    other.parts["rest"][1][0].counts["factor"] = 0.25
    run(tmp_path, model=other)
    assert state(other)["numbers"] == state(model)["numbers"] | {f"{noise}.counts.factor": 0.25}


def test_a_number_that_a_resumed_model_has_already_is_kept_in_later_files(tmp_path: Path) -> None:
    """The model that was stopped goes on: what the first part changed is not what the second part changes."""
    _, model = run(tmp_path, epochs=1)
    model.parts["rest"][1][0].calls = 9  # as after nine batches: what the file has
    model.parts["rest"][1][0].forward = lambda x: x  # and no forward pass changes it any more
    run(tmp_path, model=model, epochs=2)
    assert load_checkpoint(tmp_path / "last.safetensors")[1]["numbers"]["parts.rest.1.0.calls"] == 9


def test_state_of_another_model_is_refused(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    arrays, about = load_checkpoint(tmp_path / "last.safetensors")
    other = Moving(kind=np.random.Philox)
    with pytest.raises(CheckpointError, match=r"state of the random generator 'parts.rest.1.0.rng' cannot be set"):
        run(tmp_path, model=other)
    other = Moving()
    before = state(other)
    for change, words in (
        ({"generators": {}}, r"it has the random generators \[\], and the model has \['parts.rest.1.0.rng'\]"),
        ({"numbers": {"parts.more.n": 3}}, r"it has the numbers \['parts.more.n'\], and the model has no such modules"),
        (
            {"numbers": {}},
            r"it lacks the numbers \['parts.rest.0.key', 'parts.rest.0.step'\] of the model's Dropout layers",
        ),
        ({"numbers": {"n": "3"}}, r"'n' must be int | float | bool"),
    ):
        save_checkpoint(tmp_path / "last.safetensors", arrays, about | change)
        with pytest.raises(CheckpointError, match=words):
            run(tmp_path, model=other)
    assert state(other) == before


def test_a_plain_array_that_changes_is_said_once(tmp_path: Path) -> None:
    class Running(Module):
        def __init__(self) -> None:
            self.weight, self.mean, self.table = nn.Parameter(np.ones(4)), np.zeros(4), np.ones(4)
            self.old, self.encoding = Tensor(np.zeros(4)), nn.PositionalEncoding(4)  # the last has a table that grows

        def forward(self, x: Any) -> Any:
            self.mean, self.old = 0.9 * self.mean + 0.1 * x.mean(axis=0), Tensor(x.mean(axis=0))
            return self.encoding(x - self.mean) * self.weight * self.table

    def train(**options: Any) -> None:
        model = Running()
        loss: Any = lambda model, batch: (model(batch[0]) ** 2).mean()
        nn.fit(model, Batches([X], 8, seed=0), loss, nn.SGD(model.parameters()), epochs=2, progress=False, **options)

    with pytest.warns(
        UserWarning, match=r"the run changes mean, old, and a checkpoint file does not hold plain"
    ) as said:
        train(checkpoint=tmp_path)
    assert len(said) == 1 and Path(said[0].filename).name == Path(__file__).name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train()  # nothing is saved, so nothing is lost


def test_an_interrupt_while_the_state_is_copied_keeps_the_copy_before() -> None:
    class Interrupting(np.random.PCG64):
        now = False

        @property  # type: ignore[misc]  # the base class has one that can be set, too
        def state(self) -> Any:
            return fail() if self.now else super().state

    norm: Any = nn.BatchNorm(2)
    norm.rng = np.random.Generator(Interrupting(0))
    own = StepState(norm, nn.SGD(norm.parameters()))
    norm.running_mean.data, norm.rng = np.ones(2, np.float32), np.random.Generator(Interrupting(1))
    norm.rng.bit_generator.now = True
    with pytest.raises(Stop):
        own.take()
    norm.rng.bit_generator.now = False
    vars(norm).pop("rng")
    own._kept = [one for one in own._kept if one[1] != "rng"]
    own.put_back()
    assert norm.running_mean.tolist() == [0, 0]
