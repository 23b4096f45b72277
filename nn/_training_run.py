"""The loop of :func:`nn.fit`, its state, and the points at which it may be interrupted and saved."""

from __future__ import annotations

import itertools
import math
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor, no_grad
from minigrad.internal import CheckpointError, active, gradient_river, save_checkpoint, to_host

from . import _training_state as state
from ._interrupts import Interrupts
from ._modes import Modes
from ._one_process import OneProcess
from ._progress import progress_bar
from ._step_state import StepState
from ._training_state import Files, TrainingError
from .clipping import clip_grad_norm, clip_grad_value
from .data import EpochBatches
from .history import Best, History
from .module import Module, evaluating
from .optimizer import Optimizer
from .schedules import PlateauSchedule, Schedule


@dataclass
class TrainingRun:
    """The arguments of ``fit`` and the progress of the run."""

    model: Module
    batches: EpochBatches
    loss: Callable[[Any, Any], Tensor]
    optimizer: Optimizer
    epochs: int
    schedule: Schedule | PlateauSchedule | None
    clip_norm: float | None
    clip_value: float | None
    accumulate: int
    validate: Callable[[Any], Mapping[str, Any]] | None
    patience: int | None
    best: Best | None
    every: int | None
    files: Files | None
    tqdm: Any
    on_step: Callable[[], object] | None = None
    ranks: OneProcess = field(default_factory=OneProcess)
    restore_best: bool = False
    river: bool = False

    def __post_init__(self) -> None:
        self.history = History()  # one dictionary of metrics per completed epoch
        self.names = [name for name, _ in self.model.named_parameters()]
        if self.river:
            self.history.river = gradient_river()()
        self.updates = 0  # in the current epoch
        self.boundary = StepState(self.model)  # what the model was after the last step
        self.whole = True  # False during an update or a write, and after one that failed
        self.saved = (0, 0)  # `_progress` at the last checkpoint file
        self.first_batch = ""  # the fingerprint of the first batch, if there are checkpoint files or several ranks
        self.first_lr = self.optimizer.lr if self.schedule is None else None
        self.warned = False  # of arrays that no checkpoint file holds
        self.interrupts = Interrupts()
        self.modes = Modes(self.model)
        self.best_weights: state.Arrays | None = None  # those of the best epoch, with `restore_best`

    def train(self, resume: bool) -> History:
        with self.interrupts:
            if self.files is not None or self.ranks.size > 1:
                self.first_batch = state.fingerprint(next(iter(self.batches.epoch(0)), None))
            self.ranks.agree(
                "the run", self._settings() | {"epochs": self.epochs}, "start each rank with the same script"
            )
            if self.files is not None and resume and self.ranks.of_first(self.files.last.exists):
                with self.interrupts.deferred():
                    self._restore(self.files.last)
            self.ranks.broadcast(self.model)
            if self.files is not None and not self.ranks.rank and self._goes_on():
                with self.interrupts.deferred():
                    state.try_to_write(self.files, *self._collected())
            try:
                self.modes.train()
                self.boundary.take()  # of what a file and rank 0 gave
                self._run_epochs()
                if self.best_weights is not None:
                    with self.interrupts.deferred():
                        state.put_weights("the best epoch", self.model, self.best_weights)
            finally:
                self.modes.end()  # also after an error, so that Dropout does not change later predictions
        return self.history

    def _run_epochs(self) -> None:
        """Run the remaining epochs. On an error, restore the contexts and save the run unless an update is incomplete."""
        contexts = list(active.contexts)
        try:
            while self._goes_on():
                self._run_epoch()
        except BaseException as error:
            for context in [context for context in active.contexts if context not in contexts]:
                active.leave(context)  # Ctrl-C may come between the last line of a `with no_grad()` and its __exit__
            if self.whole:
                with self.interrupts.deferred():
                    self.boundary.put_back()
                if not isinstance(error, TrainingError):
                    with suppress(TrainingError):  # the first error is more informative
                        self._save()
            raise
        finally:
            self.interrupts.closing()

    def _run_epoch(self) -> None:
        """Run the rest of the current epoch."""
        epoch, total = len(self.history.metrics), math.ceil(len(self.batches) / self.accumulate)
        done = self.updates * self.accumulate
        batches = itertools.islice(self.ranks.share(self.batches, epoch), done, None)
        with progress_bar(self.tqdm, f"epoch {epoch + 1}/{self.epochs}", self.updates, total) as show:
            while group := list(itertools.islice(batches, self.accumulate)):
                self._step(group)
                show(self.history.losses, None)
                if self.every is not None and self._progress[0] % self.every == 0:
                    self._save()
            if not self.updates:
                raise ArgumentError(f"there are no batches: batches.epoch({epoch}) gave none")
            metrics = self._validated()
            with self._undivided():
                self.history.metrics.append(metrics)
                self.updates = 0
                self.boundary.take()
                if self.restore_best and self._best_is_last():
                    self.best_weights = state.weights(self.model)[0]
            show(self.history.losses, metrics)
        self._save()

    def _step(self, group: list[tuple[Any, int | None]]) -> None:
        """Make one update from the batches of ``group``; ranks give each batch with its number of examples."""
        with self.ranks.watched():
            self.optimizer.zero_grad()
            loss = self._backward(group)
        if not math.isfinite(loss):  # checked before it changes the weights
            raise self._stopped(f"the loss of step {self._progress[0]} is {loss}")
        if self.river:
            self.history.river.add_gradients(self.model.named_parameters())
        self._clip()
        lr = self._rate(*self._progress)
        with self._undivided():
            self.optimizer.lr = lr
            self.optimizer.step()
            self.history.losses.append(loss)
            self.updates += 1
            if self.on_step is not None:
                self.on_step()
            self.boundary.take()

    def _clip(self) -> None:
        if self.clip_norm is not None:
            try:
                clip_grad_norm(self.optimizer.parameters, self.clip_norm)
            except ArgumentError as error:
                raise self._stopped(f"at step {self._progress[0]} {error}") from error
        if self.clip_value is not None:
            clip_grad_value(self.optimizer.parameters, self.clip_value)

    def _backward(self, group: list[tuple[Any, int | None]]) -> float:
        """Compute the mean loss over all examples of ``group`` in all ranks and its gradients; return that loss."""
        sizes = [_examples(batch) if count is None else count for batch, count in group] if len(group) > 1 else [1]
        count = group[0][1] if len(group) == 1 else sum(sizes)
        total: Any = 0.0
        for i, ((batch, _), size) in enumerate(zip(group, sizes), start=1):
            loss = self._loss(batch)
            if len(group) > 1:
                loss = loss * (size / max(sum(sizes), 1))
            total = total + loss.data
            with self.ranks.overlapping(loss, self.optimizer, count) if i == len(group) else nullcontext():
                loss.backward()
        self.ranks.average(self.optimizer, count)
        return self.ranks.mean(float(to_host(total)), count)

    def _loss(self, batch: Any) -> Tensor:
        self.modes.train()  # the user's program may have called model.eval() or model.train() after the last batch
        try:
            loss = self.loss(self.model, batch)
        except (TypeError, AttributeError) as error:
            if not self.history.losses:
                _say_how_loss_is_called(error)
            raise
        if not isinstance(loss, Tensor) or loss.shape != ():
            got = f"a Tensor of shape {loss.shape}" if isinstance(loss, Tensor) else f"{type(loss).__name__}"
            raise ArgumentError(f"loss(model, batch) must return a Tensor of shape (), got {got}: take a mean")
        return loss

    def _validated(self) -> dict[str, float]:
        if self.validate is None:
            return {}
        self.boundary.take(parameters=True)  # validate may change them for a while, such as WeightAverage.applied
        with evaluating(self.model), no_grad():
            given = self.validate(self.model)
        if not isinstance(given, Mapping):
            raise ArgumentError(
                f'validate must return numbers by name, {{"accuracy": 0.9}}, got {type(given).__name__}'
            )
        try:
            metrics = {str(name): float(value) for name, value in given.items()}
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"validate must return numbers by name, got {dict(given)!r}: {error}") from error
        self.ranks.agree("the result of validate", metrics, "use ranks.total(correct) / ranks.total(count)")
        if self.best is not None and self.best[1] not in metrics:
            raise ArgumentError(f"best names {self.best[1]!r}, but validate returns {list(metrics)}: name one of these")
        deciding = [self.best] if self.best is not None else []
        deciding += [self.schedule.best] if isinstance(self.schedule, PlateauSchedule) else []
        for name in sorted({name for _, name in deciding if math.isnan(metrics.get(name, 0.0))}):
            warnings.warn(
                f"validate returned NaN for {name!r} after epoch {len(self.history.metrics)} (epochs count from 0): the epoch "
                "counts as one without improvement",
                stacklevel=5,
            )
        return metrics

    def _rate(self, step: int, epochs: int) -> float:
        """Return the learning rate of a step, before which that many epochs were completed."""
        if isinstance(self.schedule, PlateauSchedule):
            return self.schedule(self.history.metric(self.schedule.best[1])[:epochs])
        return self.optimizer.lr if self.schedule is None else self.schedule(step)

    @property
    def _progress(self) -> tuple[int, int]:
        """Return the numbers of completed steps and completed epochs."""
        return len(self.history.losses), len(self.history.metrics)

    @contextmanager
    def _undivided(self) -> Iterator[None]:
        """Defer Ctrl-C in the block, and mark the run as not savable if the block fails."""
        with self.interrupts.deferred():
            self.whole = False
            yield
            self.whole = True

    def _goes_on(self) -> bool:
        """Return whether there is another epoch: neither the epochs nor the patience are used up."""
        epochs = len(self.history.metrics)
        if self.patience is None or self.best is None:
            return epochs < self.epochs
        return epochs < self.epochs and epochs - 1 - self.history._best_epoch(self.best) < self.patience

    def _best_is_last(self) -> bool:
        return self.best is not None and self.history._best_epoch(self.best) == len(self.history.metrics) - 1

    def _save(self) -> None:
        """Write the last checkpoint file; before it the best one, if the epoch just completed is the best."""
        if self.files is None or self.ranks.rank or self._progress == self.saved:
            return
        with self._undivided():
            arrays, about = self._collected()
            if name := state.not_finite(arrays):
                raise self._stopped(f"after step {self._progress[0] - 1} {name} contains NaN or infinity")
            if not self.updates and self._best_is_last():
                save_checkpoint(self.files.best, arrays, about)
            save_checkpoint(self.files.last, arrays, about)
            self.saved = self._progress
        if not self.warned and (lost := self.boundary.changed_arrays()):
            self.warned = True
            warnings.warn(
                f"the run changes {', '.join(lost)}, and a checkpoint file does not hold plain arrays: make each an nn.Buffer, "
                "or a resumed run may differ from one that was not stopped",
                stacklevel=2,
            )

    def _collected(self) -> tuple[state.Arrays, dict[str, Any]]:
        """Return the content of a checkpoint file."""
        arrays, about = state.collect(self.model, self.optimizer, self.boundary)
        arrays["losses"] = np.array(self.history.losses, np.float64)
        if self.river:
            # After an error between backward and update, the river has a step more than the run.
            arrays["river"] = self.history.river.numbers(self.names)[: len(self.history.losses)]
        return arrays, about | {"metrics": self.history.metrics, "updates": self.updates, "run": self._settings()}

    def _restore(self, path: Path) -> None:
        arrays, about = self.ranks.of_first(lambda: state.read(path))
        settings = self._settings()
        state.same(path, "the list of the run's settings", sorted(about["run"]), sorted(settings))
        if None in (settings["the learning rate"], about["run"]["the learning rate"]):
            del settings["the learning rate"]  # one of the runs has a schedule, which may change
        for name, value in settings.items():
            state.same(path, name, about["run"][name], value)
        history = History(arrays["losses"].tolist(), about["metrics"], self._saved_river(path, arrays))
        best_weights = self._saved_best(history)
        state.restore(path, self.model, self.optimizer, self.boundary, arrays, about)
        self.history, self.best_weights = history, best_weights
        self.updates = about["updates"]
        self._say_other_schedule(about["optimizer"]["settings"]["lr"])
        self.saved = self._progress

    def _saved_river(self, path: Path, arrays: state.Arrays) -> Any:
        """Return the river of a saved run. The steps of a run that had none are empty in it."""
        if not self.river:
            return None
        steps = len(arrays["losses"])
        saved = arrays.get("river", np.tile([0.0, 0.0, 0.0, -1.0, 0.0], (steps, 1)))
        if saved.dtype != np.float64 or saved.shape != (steps, 5) or not (saved[:, 3] < len(self.names)).all():
            raise CheckpointError(
                f"'{path}' has a river of gradients that does not fit its {steps} steps: resume with river=False"
            )
        return gradient_river().from_numbers(saved, self.names)

    def _saved_best(self, history: History) -> state.Arrays | None:
        """Return the weights of the best epoch of a saved run, from its ``best`` file."""
        epoch = history._best_epoch(self.best) if self.restore_best and self.best is not None else -1
        if epoch < 0 or self.files is None:
            return None
        path = self.files.best
        arrays, about = self.ranks.of_first(lambda: state.read(path))
        if len(about["metrics"]) != epoch + 1:
            raise CheckpointError(
                f"restore_best needs the weights of epoch {epoch}, and '{path}' has those of epoch "
                f"{len(about['metrics']) - 1}: resume with the same best as before, or without restore_best"
            )
        return arrays

    def _say_other_schedule(self, lr: float) -> None:
        """Warn if the schedule differs from that of the saved run, which is allowed, for instance to train longer."""
        step, epochs = self._progress[0] - 1, self._progress[1] - (not self.updates)
        given = lr if self.schedule is None or step < 0 else float(self._rate(step, epochs))
        if given != lr:
            warnings.warn(
                f"the schedule differs from that of the resumed run: step {step} had the learning rate {lr}, and the new "
                f"schedule gives {given}; the steps from here on use the new schedule",
                stacklevel=5,
            )

    def _settings(self) -> dict[str, Any]:
        """Return the settings that must be the same when the run is resumed."""
        described = self.batches.to_dict() if hasattr(self.batches, "to_dict") else {}
        return {
            "accumulate": self.accumulate,
            "clip_norm": self.clip_norm,
            "clip_value": self.clip_value,
            "the learning rate": self.first_lr,
            "batches": {"in an epoch": len(self.batches)} | described,
            "the content of the first batch, by its SHA-256": self.first_batch,
        }

    def _stopped(self, what: str) -> TrainingError:
        kept = ""
        if self.files is not None and self.saved[0]:
            kept = f" The checkpoint '{self.files.last}', written after {self.saved[0]} steps, is unchanged."
        return TrainingError(
            f"{what} (steps count from 0). A smaller learning rate, a warm-up or clip_norm may help. Call fit inside `with "
            f"minigrad.detect_anomaly():` to find the operation that caused it.{kept}"
        )


def _say_how_loss_is_called(error: TypeError | AttributeError) -> None:
    """Add to the message of an error that the loss raised, unless it comes from the call of a module."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if Module.__call__.__code__ not in frames and len(error.args) == 1:
        error.args = (
            f"{error.args[0]}. fit calls loss(model, batch); for a loss of predictions and targets, such as nn.cross_entropy, "
            "write loss=lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1])",
        )


def _examples(batch: Any) -> int:
    """Return the number of examples in a batch: the length of the batch or of its first array."""
    parts = list(batch.values()) if isinstance(batch, dict) else batch
    first = parts[0] if isinstance(parts, (tuple, list)) and parts else parts
    if not np.shape(first):
        raise ArgumentError(
            f"accumulate weights batches by their number of examples, and {type(batch).__name__} has none: make each batch a "
            "tuple of arrays"
        )
    return int(np.shape(first)[0])
