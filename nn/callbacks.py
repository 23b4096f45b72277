"""The callbacks behind the arguments of :func:`nn.fit`. nn/checkpoint_files.py has those that keep states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.internal import gradient_river

from .module import Module
from .training import Callback, Training

_SMOOTHING = 50  # steps; the bar shows the mean of the last losses, because single losses vary


class River(Callback):
    """Note the size of the gradients of each step in ``History.river``."""

    def __init__(self, model: Module) -> None:
        self.names = [name for name, _ in model.named_parameters()]
        self.river = gradient_river()()

    def begin(self, run: Training) -> None:
        run.history.river = self.river

    def after_backward(self, run: Training) -> None:
        self.next = gradient_river()()
        self.next.add_gradients(run.model.named_parameters())

    def after_update(self, run: Training) -> None:
        self.river.steps += self.next.steps

    def state(self) -> dict[str, Any]:
        return {"steps": self.river.numbers(self.names)}

    def load(self, run: Training, saved: dict[str, Any]) -> None:
        """Restore the river. The steps of a run that had none are empty in it."""
        steps = saved.get("steps", np.tile([0.0, 0.0, 0.0, -1.0, 0.0], (run.step, 1)))
        if steps.dtype != np.float64 or steps.shape != (run.step, 5) or not (steps[:, 3] < len(self.names)).all():
            raise ArgumentError(f"its river of gradients does not fit its {run.step} steps: resume with river=False")
        self.river = gradient_river().from_numbers(steps, self.names)


class OnStep(Callback):
    """Call ``on_step()`` after each update."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function

    def after_update(self, run: Training) -> None:
        self.function()


class Validation(Callback):
    """Call ``validate(model)`` after each epoch."""

    _measure_name = "validate"

    def __init__(self, function: Callable[[Any], Mapping[str, Any]]) -> None:
        self.function = function

    def measure(self, run: Training) -> Mapping[str, float]:
        return self.function(run.model)


def load_tqdm() -> Any:
    """Return tqdm, or None if it is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


class ProgressBar(Callback):
    """Show a bar for each epoch, if tqdm is installed: training works without it."""

    bar: Any = None

    def begin(self, run: Training) -> None:
        self.tqdm = load_tqdm()
        self._open(run)

    def _open(self, run: Training) -> None:
        if self.tqdm is not None and run.goes_on():
            total = math.ceil(len(run.batches) / run.accumulate)
            self.bar = self.tqdm(desc=f"epoch {run.epoch + 1}/{run.epochs}", initial=run.updates, total=total)

    def between(self, run: Training) -> None:
        if self.bar is None:
            return
        losses, ended = run.history.losses[-_SMOOTHING:], not run.updates
        numbers = {"loss": sum(losses) / len(losses)} | (run.history.metrics[-1] if ended else {})
        self.bar.set_postfix({name: f"{value:.4f}" for name, value in numbers.items()}, refresh=ended)
        if ended:
            self.bar.close()
            self._open(run)
        else:
            self.bar.update()

    def end(self, run: Training, error: BaseException | None) -> None:
        if self.bar is not None:
            self.bar.close()
