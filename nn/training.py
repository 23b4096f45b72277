"""Training and Callback: the loop of :func:`nn.fit`, and what may watch it."""

from __future__ import annotations

import itertools
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from minigrad import ArgumentError, MinigradError, Tensor, no_grad
from minigrad.internal import active, to_host

from ._interrupts import Interrupts
from ._modes import Modes
from .clipping import clip_grad_norm, clip_grad_value
from .data import EpochBatches, fingerprint
from .history import Best, History
from .module import Module, evaluating
from .optimizer import Optimizer
from .parallel.one_process import OneProcess
from .schedules import PlateauSchedule, Schedule
from .step_state import StepState

Group = list[tuple[Any, int | None]]  # the batches of one step, each with the number of its examples in this process


class TrainingError(MinigradError, RuntimeError):
    """Training stopped because the loss, a gradient or a weight is no longer finite.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> model, x = nn.Affine(1, 1, rng=np.random.default_rng(0)), np.ones((4, 1))
        >>> batches, sgd = nn.Batches([x], 2, seed=0), nn.SGD(model.parameters())
        >>> try:
        ...     nn.fit(model, batches, lambda *_: model.weight.sum() * np.inf, sgd, epochs=1, progress=False)
        ... except nn.TrainingError as error:
        ...     print(str(error).split(" (")[0])
        the loss of step 0 is inf
    """


class Callback:
    """Watch a training: a subclass defines the methods that it needs, and ``nn.fit(..., callbacks=[...])`` calls them.

    Each gets ``run``, with ``run.model``, ``run.optimizer``, ``run.history``, the numbers ``run.step`` and ``run.epoch`` of
    completed steps and epochs, and ``run.updates``, the steps in the present epoch. ``run.epochs = run.epoch`` ends the
    training after this epoch. Callbacks are called in the order of the list.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> class Rates(nn.Callback):
        ...     def __init__(self):
        ...         self.seen = []
        ...
        ...     def after_update(self, run):
        ...         self.seen.append(round(run.optimizer.lr, 3))
        >>> model, rates = nn.Affine(1, 1, rng=np.random.default_rng(0)), Rates()
        >>> batches, sgd = nn.Batches([np.ones((4, 1))], 2, seed=0), nn.SGD(model.parameters())
        >>> def loss(model, batch):
        ...     return (model(batch[0]) ** 2).mean()
        >>> settings = {"schedule": nn.linear_schedule(0.1, 4), "progress": False}
        >>> _ = nn.fit(model, batches, loss, sgd, epochs=2, callbacks=[rates], **settings)
        >>> rates.seen
        [0.1, 0.075, 0.05, 0.025]
    """

    _measure_name = ""  # what errors call :meth:`measure`, if not by the name of the class

    def begin(self, run: Training) -> None:
        """Run before the first step. The state of a checkpoint file has been restored. An error leaves the model unchanged."""

    def after_backward(self, run: Training) -> None:
        """Run when the gradients of a step are complete. Here they may be changed."""

    def after_update(self, run: Training) -> None:
        """Run after the update, as a part of the step: Ctrl-C waits, and after an error no checkpoint file is written."""

    def measure(self, run: Training) -> Mapping[str, Any]:
        """Return numbers by name for ``run.history``. Runs after the last step of an epoch, in evaluation mode."""
        return {}

    def between(self, run: Training) -> None:
        """Run between two steps, and once more after each epoch, when ``run.updates`` is 0."""

    def end(self, run: Training, error: BaseException | None) -> None:
        """Run when the training has ended, by an error or Ctrl-C (``error``), or else with None."""

    def state(self) -> dict[str, Any]:
        """Return arrays and JSON values by name, which checkpoint files hold. Only ``after_update`` may change them."""
        return {}

    def load(self, run: Training, saved: dict[str, Any]) -> None:
        """Restore what :meth:`state` returned, or begin anew if it is ``{}``: the file is of a run without this callback."""


@dataclass(eq=False, repr=False)
class Training:
    """A run of ``fit``: the loop, what it was given, and how far it is."""

    model: Module
    batches: EpochBatches
    loss: Callable[[Any, Any], Tensor]
    optimizer: Optimizer
    epochs: int
    schedule: Schedule | PlateauSchedule | None
    clip_norm: float | None
    clip_value: float | None
    accumulate: int
    best: Best | None
    patience: int | None
    callbacks: Sequence[Callback]
    ranks: OneProcess

    def __post_init__(self) -> None:
        self.state = StepState(self.model, self.optimizer)
        self.whole = True  # False during an update or a write, and after one that failed
        self.interrupts = Interrupts()
        self.modes = Modes(self.model)
        self.first_lr = self.optimizer.lr if self.schedule is None else None

    def run(self) -> History:
        """Train. An error or Ctrl-C leaves the state between two steps, unless the update itself has failed."""
        with self.interrupts:
            self._begin()
            self._train()  # a function of its own: an interrupt at a `try` inside of this block would miss its end
        return self.history

    def _begin(self) -> None:
        if self.ranks.size > 1:
            given = self.settings() | {"epochs": self.epochs}
            self.ranks.agree("the run", given, "start each rank with the same script")
        self._tell("begin")
        self.ranks.broadcast(self.model)

    def _train(self) -> None:
        try:
            self.modes.train()
            self.state.take()
            self._run_epochs()
            self._tell("end", None)
        finally:
            self.modes.end()  # also after an error, so that Dropout does not change later predictions

    def _run_epochs(self) -> None:
        contexts = list(active.contexts)
        try:
            while self.goes_on():
                self._run_epoch()
        except BaseException as error:
            for context in [context for context in active.contexts if context not in contexts]:
                active.leave(context)  # Ctrl-C may come between the last line of a `with no_grad()` and its __exit__
            with self.interrupts.deferred():
                if self.whole:
                    self.state.put_back()
                self._tell("end", error)
            raise
        finally:
            self.interrupts.closing()

    # `state.take()` copies what a forward pass changes in the model, wherever a step is complete. An error or Ctrl-C in the
    # next step or in `measure` puts that copy back, so a checkpoint file never holds half a step.
    def _run_epoch(self) -> None:
        """Run the rest of the current epoch."""
        batches = itertools.islice(self.ranks.share(self.batches, self.epoch), self.updates * self.accumulate, None)
        while group := list(itertools.islice(batches, self.accumulate)):
            self._run_step(group)
            self._tell("between")
        if not self.updates:
            raise ArgumentError(f"there are no batches: batches.epoch({self.epoch}) gave none")
        metrics = self._measured()
        with self.undivided():
            self.history.metrics.append(metrics)
            self.state.updates = 0
            self.state.take()
        self._tell("between")

    def _run_step(self, group: Group) -> None:
        """Make one update from the batches of ``group``."""
        with self.ranks.watched():
            self.optimizer.zero_grad()
            loss = self._backward(group)
        if not math.isfinite(loss):  # checked before it changes the weights
            raise self.failed(f"the loss of step {self.step} is {loss}")
        self._tell("after_backward")
        self._clip()
        lr = self.rate(self.step, self.epoch)
        with self.undivided():
            self.optimizer.lr = lr
            self.optimizer.step()
            self.history.losses.append(loss)
            self.state.updates += 1
            self._tell("after_update")
            self.state.take()

    def _clip(self) -> None:
        if self.clip_norm is not None:
            try:
                clip_grad_norm(self.optimizer.parameters, self.clip_norm)
            except ArgumentError as error:
                raise self.failed(f"at step {self.step} {error}") from error
        if self.clip_value is not None:
            clip_grad_value(self.optimizer.parameters, self.clip_value)

    def _backward(self, group: Group) -> float:
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
            if not self.step:
                _say_how_loss_is_called(error)
            raise
        if not isinstance(loss, Tensor) or loss.shape != ():
            got = f"a Tensor of shape {loss.shape}" if isinstance(loss, Tensor) else f"{type(loss).__name__}"
            raise ArgumentError(f"loss(model, batch) must return a Tensor of shape (), got {got}: take a mean")
        return loss

    def _measured(self) -> dict[str, float]:
        """Return the numbers of all callbacks for the epoch that has just ended."""
        measuring = [callback for callback in self.callbacks if type(callback).measure is not Callback.measure]
        metrics: dict[str, float] = {}
        source: dict[str, str] = {}  # what has measured each number
        if measuring:
            self.state.take(parameters=True)  # a callback may change them for a while, as WeightAverage.applied does
            with evaluating(self.model), no_grad():
                for callback in measuring:
                    what = callback._measure_name or f"{type(callback).__name__}.measure"
                    for name, value in _as_numbers(what, callback.measure(self)).items():
                        if name in metrics:
                            raise ArgumentError(f"{source[name]} and {what} both return {name!r}: rename one of them")
                        metrics[name], source[name] = value, what
            self.ranks.agree("the result of validate", metrics, "use ranks.total(correct) / ranks.total(count)")
            self._check_deciding(metrics)
        return metrics

    def _check_deciding(self, metrics: dict[str, float]) -> None:
        """Raise if the metric ``best`` is missing; warn of a number that is NaN and decides."""
        if self.best is not None and self.best[1] not in metrics:
            raise ArgumentError(f"best names {self.best[1]!r}, but validate returns {list(metrics)}: name one of these")
        deciding = [self.best] if self.best is not None else []
        deciding += [self.schedule.best] if isinstance(self.schedule, PlateauSchedule) else []
        for name in sorted({name for _, name in deciding if math.isnan(metrics.get(name, 0.0))}):
            warn(
                f"validate returned NaN for {name!r} after epoch {self.epoch} (epochs count from 0): the epoch counts as one "
                "without improvement"
            )

    @property
    def history(self) -> History:
        return self.state.history

    @property
    def updates(self) -> int:
        """The number of updates in the current epoch."""
        return self.state.updates

    @property
    def step(self) -> int:
        """The number of completed steps."""
        return len(self.history.losses)

    @property
    def epoch(self) -> int:
        """The number of completed epochs."""
        return len(self.history.metrics)

    def goes_on(self) -> bool:
        """Return whether there is another epoch: neither the epochs nor the patience are used up."""
        if self.patience is None or self.best is None:
            return self.epoch < self.epochs
        return self.epoch < self.epochs and self.epoch - 1 - self.history._best_epoch(self.best) < self.patience

    def best_is_last(self) -> bool:
        """Return whether the last completed epoch is the best."""
        return self.best is not None and self.history._best_epoch(self.best) == self.epoch - 1

    def rate(self, step: int, epochs: int) -> float:
        """Return the learning rate of a step, before which that many epochs were completed."""
        if isinstance(self.schedule, PlateauSchedule):
            return self.schedule(self.history.metric(self.schedule.best[1])[:epochs])
        return self.optimizer.lr if self.schedule is None else self.schedule(step)

    def settings(self) -> dict[str, Any]:
        """Return the settings that must be the same in all ranks, and when the run is resumed."""
        described = self.batches.to_dict() if hasattr(self.batches, "to_dict") else {}
        return {
            "accumulate": self.accumulate,
            "clip_norm": self.clip_norm,
            "clip_value": self.clip_value,
            "the learning rate": self.first_lr,
            "batches": {"in an epoch": len(self.batches)} | described,
            "the content of the first batch, by its SHA-256": self._first_batch,
        }

    @cached_property
    def _first_batch(self) -> str:
        return fingerprint(next(iter(self.batches.epoch(0)), None))

    @contextmanager
    def undivided(self) -> Iterator[None]:
        """Defer Ctrl-C in the block, and mark the run as not savable if the block fails."""
        with self.interrupts.deferred():
            self.whole = False
            yield
            self.whole = True

    def failed(self, what: str) -> TrainingError:
        return TrainingError(
            f"{what} (steps count from 0). A smaller learning rate, a warm-up or clip_norm may help. Call fit inside `with "
            "minigrad.detect_anomaly():` to find the operation that caused it."
        )

    def _tell(self, moment: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, moment)(self, *arguments)


def warn(message: str) -> None:
    """Warn at the line of the program that called ``fit``."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(f"{__package__}."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def _as_numbers(what: str, given: Any) -> dict[str, float]:
    """Return the numbers that ``what``, a function of the user's program, has returned for an epoch."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f'{what} must return numbers by name, {{"accuracy": 0.9}}, got {type(given).__name__}')
    try:
        return {str(name): float(value) for name, value in given.items()}
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} must return numbers by name, got {dict(given)!r}: {error}") from error


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
