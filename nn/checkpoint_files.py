"""The callbacks of :func:`nn.fit` that keep states: checkpoint files, from which a run continues, and the best weights."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.internal import CheckpointError, load_checkpoint, require, save_checkpoint

from ._checks import check_kind
from .history import History
from .training import Callback, Training, TrainingError, warn
from .weights_file import (
    RUN_KIND,
    Arrays,
    as_json,
    check_kind_of_file,
    divided,
    named_in_errors,
    part,
    put_weights,
    same,
    weights,
)

FORM = {
    "model": str,
    "config": object,
    "generators": {str: dict},
    "numbers": {str: int | float | bool},
    "optimizer": {"name": str, "settings": {"lr": int | float}, "numbers": [{str: int}]},
    "metrics": [{str: int | float}],
    "updates": int,
    "callbacks": {str: dict},
    "run": dict,
}


class CheckpointFiles(Callback):
    """Write the files ``last`` and, with ``best``, ``best``, and continue a run from ``last``.

    Args:
        checkpoint: the folder of the files, or the path of the last one.
        every: write the last file also once every this many steps.
        resume: whether to continue from the last file, if it exists.
    """

    def __init__(self, checkpoint: str | Path, every: int | None, resume: bool) -> None:
        path = Path(checkpoint)
        alone = path.suffix == ".safetensors"
        self.last = path if alone else path / "last.safetensors"
        self.best = path.with_suffix(".best.safetensors") if alone else path / "best.safetensors"
        self.every, self.resume = every, resume
        self.saved = (0, 0)  # the numbers of steps and epochs at the last file
        self.warned = False  # of arrays that no checkpoint file holds

    def begin(self, run: Training) -> None:
        if self.resume and run.ranks.of_first(self.last.exists):
            with run.interrupts.deferred():
                self._restore(run)
        if not run.ranks.rank and run.goes_on():
            with run.interrupts.deferred():
                self._try_to_write(run)

    def between(self, run: Training) -> None:
        if not run.updates or (self.every is not None and run.step % self.every == 0):
            self._save(run)

    def end(self, run: Training, error: BaseException | None) -> None:
        if isinstance(error, TrainingError):
            if self.saved[0]:
                kept = f" The checkpoint '{self.last}', written after {self.saved[0]} steps, is unchanged."
                error.args = (f"{error.args[0]}{kept}",)
        elif error is not None and run.whole:
            with suppress(TrainingError):  # the first error is more informative
                self._save(run)

    def _try_to_write(self, run: Training) -> None:
        """Write a file beside the checkpoint files and remove it, to raise now what would be raised after an epoch."""
        trial = self.last.with_name(f".{self.last.name}.trial")
        if file := next((parent for parent in trial.parents if parent.is_file()), None):
            raise ArgumentError(f"checkpoint: '{file}' must be a folder, and there is a file: pass another path")
        for path in (self.last, self.best):
            if path.is_dir():
                raise ArgumentError(f"checkpoint: '{path}' must be a file, and there is a folder: pass another path")
        try:
            save_checkpoint(trial, *_content(run, *run.state.collect()))
            trial.unlink()
        except OSError as error:
            raise ArgumentError(
                f"checkpoint: no file can be written in '{trial.parent}' ({error.strerror}): pass another folder"
            ) from error

    def _save(self, run: Training) -> None:
        """Write the last file; before it the best one, if the epoch just completed is the best."""
        progress = run.step, run.epoch
        if run.ranks.rank or progress == self.saved:
            return
        with run.undivided():
            arrays, about = run.state.collect()
            if bad := next((name for name, array in arrays.items() if not np.isfinite(array).all()), None):
                raise run.failed(f"after step {run.step - 1} {bad} contains NaN or infinity")
            arrays, about = _content(run, arrays, about)  # what callbacks keep may be infinite
            if not run.updates and run.best_is_last():
                save_checkpoint(self.best, arrays, about)
            save_checkpoint(self.last, arrays, about)
            self.saved = progress
        if not self.warned and (lost := run.state.changed_arrays()):
            self.warned = True
            warn(
                f"the run changes {', '.join(lost)}, and a checkpoint file does not hold plain arrays: make each an nn.Buffer, "
                "or a resumed run may differ from one that was not stopped"
            )

    def _restore(self, run: Training) -> None:
        path = self.last
        arrays, about = run.ranks.of_first(lambda: read_run(path))
        settings = run.settings()
        same(path, "the list of the run's settings", sorted(about["run"]), sorted(settings))
        if None in (settings["the learning rate"], about["run"]["the learning rate"]):
            del settings["the learning rate"]  # one of the runs has a schedule, which may change
        for name, value in settings.items():
            same(path, name, about["run"][name], value)
        load = run.state.loading(path, arrays, about)
        run.state.history = History(arrays["losses"].tolist(), about["metrics"])
        run.state.updates = about["updates"]
        for name, callback in _remembering(run).items():
            with named_in_errors(path):
                callback.load(run, part(f"callbacks.{name}.", arrays) | about["callbacks"].get(name, {}))
        load()
        self.saved = run.step, run.epoch
        _say_other_schedule(run, about["optimizer"]["settings"]["lr"])


class BestWeights(Callback):
    """Give the model the weights of the best epoch when the training ends."""

    def __init__(self, files: CheckpointFiles | None) -> None:
        self.files = files
        self.weights: Arrays | None = None

    def between(self, run: Training) -> None:
        if not run.updates and run.best_is_last():
            self.weights = weights(run.model)[0]

    def end(self, run: Training, error: BaseException | None) -> None:
        if error is None and self.weights is not None:
            with run.interrupts.deferred():
                put_weights("the best epoch", run.model, self.weights)

    def load(self, run: Training, saved: dict[str, Any]) -> None:
        """Read the best epoch before the resumption from the ``best`` file."""
        assert run.best is not None and self.files is not None
        epoch, path = run.history._best_epoch(run.best), self.files.best
        if epoch < 0:
            return
        self.weights, about = run.ranks.of_first(lambda: read_run(path))
        if len(about["metrics"]) != epoch + 1:
            raise CheckpointError(
                f"restore_best needs the weights of epoch {epoch}, and '{path}' has those of epoch "
                f"{len(about['metrics']) - 1}: resume with the same best as before, or without restore_best"
            )


def read_run(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the description in a checkpoint file that ``fit`` wrote, or raise a CheckpointError."""
    arrays, about = load_checkpoint(path)
    check_kind_of_file(path, about, RUN_KIND)
    require(about, FORM, f"'{path}'")
    losses = arrays.get("losses")
    if losses is None or losses.dtype != np.float64 or losses.ndim != 1:
        raise CheckpointError(f"'{path}' has no list of losses: save it again")
    return arrays, about


def _content(run: Training, arrays: Arrays, about: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Return what a file holds, arrays by name and JSON values: those of the model and the optimizer, and the callbacks'."""
    values: dict[str, dict[str, Any]] = {}
    for name, callback in _remembering(run).items():
        state = callback.state()
        check_kind("a dictionary", **{f"{name}.state()": state})
        own, values[name] = divided(f"callbacks.{name}.", state)
        try:
            as_json(values[name])
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{name}.state() must return arrays and JSON values by name: {error}") from error
        arrays = arrays | own
    return arrays, about | {"kind": RUN_KIND, "callbacks": values, "run": run.settings()}


def _remembering(run: Training) -> dict[str, Callback]:
    """Return the callbacks that restore a state, by the name of their class."""
    found: dict[str, Callback] = {}
    for callback in run.callbacks:
        kind, name = type(callback), type(callback).__name__
        if kind.load is Callback.load:
            if kind.state is not Callback.state:
                raise ArgumentError(f"{name} defines state(), and no load(run, saved) that restores it: define both")
        elif found.setdefault(name, callback) is not callback:
            raise ArgumentError(
                f"two callbacks are a {name}, whose state a checkpoint file would hold under one name: make a subclass for one "
                "of them"
            )
    return found


def _say_other_schedule(run: Training, lr: float) -> None:
    """Warn if the schedule differs from that of the saved run, which is allowed, for instance to train longer."""
    step, epochs = run.step - 1, run.epoch - (not run.updates)
    given = lr if run.schedule is None or step < 0 else float(run.rate(step, epochs))
    if given != lr:
        warn(
            f"the schedule differs from that of the resumed run: step {step} had the learning rate {lr}, and the new "
            f"schedule gives {given}; the steps from here on use the new schedule"
        )
