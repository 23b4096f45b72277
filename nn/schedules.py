"""Learning rate schedules: values that are called with the step, counted from 0, and return the learning rate.

Schedules keep no state, so a resumed run needs only the current step number::

    schedule = cosine_schedule(1e-3, steps=1000, warmup=100)
    optimizer.lr = schedule(step)  # before each optimizer.step()

:class:`PlateauSchedule` is a function of the metrics so far in place of the step, and keeps no state either.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from minigrad import ArgumentError

from ._checks import check_interval, check_kind, check_not_negative, check_positive, plain_numbers
from .history import Best, check_best

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class Rate:
    """A schedule as a value: schedules of one formula and the same numbers are equal, and they can be pickled and printed."""

    formula: Callable[..., float]  # of a step and the numbers
    numbers: tuple[float, ...]

    def __call__(self, step: int) -> float:
        check_not_negative(step=step)
        return self.formula(int(step), *self.numbers)  # an integer of Python does not overflow

    def __repr__(self) -> str:
        return f"{self.formula.__name__.strip('_')}{self.numbers}"


def inverse_sqrt_schedule(d_model: int, warmup: int, *, scale: float = 1.0) -> Schedule:
    """Return the schedule ``scale * d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)`` with n = step + 1.

    The rate rises linearly until n = ``warmup``, then falls as ``1 / sqrt(n)``. Vaswani et al. 2017, arXiv:1706.03762, eq. 3.

    Raises:
        ArgumentError: a size is not a positive integer, or the scale is negative or not finite.

    Example:
        >>> import nn
        >>> schedule = nn.inverse_sqrt_schedule(d_model=16, warmup=4, scale=8.0)
        >>> [round(schedule(step), 2) for step in (0, 1, 3, 15, 63)]  # n = 16 has half the rate of n = 4
        [0.25, 0.5, 1.0, 0.5, 0.25]
    """
    check_positive(d_model=d_model, warmup=warmup)
    check_interval(0, math.inf, scale=scale)
    return Rate(_inverse_sqrt, (int(d_model), int(warmup), float(scale)))


def _inverse_sqrt(step: int, d_model: int, warmup: int, scale: float) -> float:
    return scale * d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


def cosine_schedule(peak: float, steps: int, warmup: int = 0, final: float = 0.0) -> Schedule:
    """Return a schedule that rises linearly to ``peak`` in ``warmup`` steps, then falls to ``final`` along a cosine.

    After the warm-up the rate is ``final + (peak - final) * (1 + cos(pi t)) / 2``. Here t grows linearly from 0 to 1, which
    it reaches at step ``steps`` (Loshchilov and Hutter 2017, arXiv:1608.03983, eq. 5). From then on the rate is ``final``.

    Raises:
        ArgumentError: steps or warmup is not an integer, warmup is not in [0, steps), or a rate is negative or not finite.

    Example:
        >>> import nn
        >>> schedule = nn.cosine_schedule(1.0, steps=10, warmup=2)
        >>> [round(schedule(step), 2) for step in (0, 1, 2, 4, 6, 8, 10, 99)]
        [0.5, 1.0, 1.0, 0.85, 0.5, 0.15, 0.0, 0.0]
    """
    return Rate(_cosine, _warmed_up(peak, steps, warmup, final))


def _cosine(step: int, peak: float, steps: int, warmup: int, final: float) -> float:
    return _rise(step, peak, warmup) if step < warmup else _between(peak, final, _share(step, warmup, steps))


def linear_schedule(peak: float, steps: int, warmup: int = 0, final: float = 0.0) -> Schedule:
    """Return a schedule that rises linearly to ``peak`` in ``warmup`` steps, then falls linearly to ``final``.

    After the warm-up the rate is ``peak + (final - peak) * t``. Here t grows linearly from 0 to 1, which it reaches at step
    ``steps``. From then on the rate is ``final``.

    Raises:
        ArgumentError: steps or warmup is not an integer, warmup is not in [0, steps), or a rate is negative or not finite.

    Example:
        >>> import nn
        >>> schedule = nn.linear_schedule(1.0, steps=10, warmup=2)
        >>> [round(schedule(step), 2) for step in (0, 1, 2, 4, 6, 8, 10, 99)]
        [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    return Rate(_linear, _warmed_up(peak, steps, warmup, final))


def _linear(step: int, peak: float, steps: int, warmup: int, final: float) -> float:
    t = _share(step, warmup, steps)
    return _rise(step, peak, warmup) if step < warmup else peak * (1 - t) + final * t


def _warmed_up(peak: float, steps: int, warmup: int, final: float) -> tuple[float, ...]:
    """Return the numbers of a schedule with a warm-up."""
    check_positive(steps=steps)
    check_not_negative(warmup=warmup)
    check_interval(0, math.inf, peak=peak, final=final)
    if warmup >= steps:
        raise ArgumentError(f"warmup must be at least 0 and less than steps={int(steps)}, got {int(warmup)!r}")
    return float(peak), int(steps), int(warmup), float(final)


def _rise(step: int, peak: float, warmup: int) -> float:
    return peak * ((step + 1) / warmup)  # in this order it is never more than peak


def _share(step: int, warmup: int, steps: int) -> float:
    """Return how much of the steps after the warm-up is over, 0 to 1."""
    return min((step - warmup) / (steps - warmup), 1.0)


def one_cycle_schedule(
    peak: float, steps: int, *, rise: float = 0.3, start: float | None = None, final: float | None = None
) -> Schedule:
    """Return a schedule that rises along a cosine from ``start`` to ``peak``, then falls along a cosine to ``final``.

    Smith and Topin 2018, arXiv:1708.07120, with the cosines and the defaults of PyTorch's OneCycleLR.

    Args:
        peak, steps: the highest rate, and the number of steps; later steps have the rate ``final``.
        rise: the part of the steps that rises, in [0, 1].
        start, final: by default ``peak / 25`` and ``start / 10000``.

    Raises:
        ArgumentError: steps is not a positive integer, rise is not in [0, 1], or a rate is negative or not finite.

    Example:
        >>> import nn
        >>> schedule = nn.one_cycle_schedule(1.0, steps=11, rise=0.5)
        >>> [round(schedule(step), 2) for step in (0, 2, 4, 5, 8, 10)]
        [0.04, 0.44, 0.97, 0.98, 0.29, 0.0]
    """
    check_positive(steps=steps)
    check_interval(0, math.inf, peak=peak)
    start = float(peak) / 25 if start is None else start
    check_interval(0, math.inf, start=start)
    final = float(start) / 10000 if final is None else final
    check_interval(0, math.inf, final=final)
    check_interval(0, 1, rise=rise)
    return Rate(_one_cycle, (float(peak), int(steps), float(rise), float(start), float(final)))


def _one_cycle(step: int, peak: float, steps: int, rise: float, start: float, final: float) -> float:
    turn = rise * steps - 1  # the step with the highest rate, if it is a whole number
    if step <= turn:
        return _between(start, peak, step / turn if turn else 1.0)
    return _between(peak, final, min((step - turn) / (steps - 1 - turn), 1.0) if steps - 1 > turn else 1.0)


def _between(start: float, end: float, t: float) -> float:
    """Return ``start`` for t = 0 and ``end`` for t = 1, along half a cosine."""
    share = (1 + math.cos(math.pi * t)) / 2
    return start * share + end * (1 - share)


def step_schedule(lr: float, every: int, factor: float = 0.1) -> Schedule:
    """Return the schedule ``lr * factor ** (step // every)``, which falls at once after each ``every`` steps.

    Raises:
        ArgumentError: every is not a positive integer, lr is negative or not finite, or factor is not in [0, 1].

    Example:
        >>> import nn
        >>> schedule = nn.step_schedule(1.0, every=2)
        >>> [round(schedule(step), 2) for step in range(6)]
        [1.0, 1.0, 0.1, 0.1, 0.01, 0.01]
    """
    check_positive(every=every)
    check_interval(0, math.inf, lr=lr)
    check_interval(0, 1, factor=factor)
    return Rate(_step, (float(lr), int(every), float(factor)))


def _step(step: int, lr: float, every: int, factor: float) -> float:
    return lr * factor ** (step // every)


@dataclass(frozen=True)
class PlateauSchedule:
    """A learning rate that is multiplied by ``factor`` when a metric has not improved for more than ``patience`` epochs.

    An epoch improves if its value is less than ``b - threshold * abs(b)``, or with "max" more than ``b + threshold * abs(b)``,
    where b is the value of the last epoch that improved. For b > 0 this is PyTorch's ReduceLROnPlateau with its threshold_mode
    "rel"; for b < 0 PyTorch changes the sign of the threshold, so that with "min" a value that stays the same improves. The
    rule is that of He et al. 2016, arXiv:1512.03385, section 3.4, "when the error plateaus".

    Args:
        lr: the rate of the first epochs.
        best: ``("min" or "max", name)``, the metric that :func:`fit` passes on from ``validate``.
        cooldown: the number of epochs after a reduction that do not count as epochs without improvement.
        final: the smallest rate.

    Calling it: the values of the metric, one for each epoch so far -> the rate of the next epoch. :func:`fit` calls it.

    Raises:
        ArgumentError: best is no such pair, patience or cooldown is not an integer, 0 or more, factor is not in [0, 1], or a
            rate or the threshold is negative or not finite.

    Example:
        >>> import nn
        >>> schedule = nn.PlateauSchedule(0.1, ("min", "loss"), factor=0.5, patience=1)
        >>> losses = [3.0, 2.0, 2.0, 2.0, 2.0, 2.0]
        >>> [schedule(losses[:epoch]) for epoch in range(7)]  # two epochs without improvement, and two more
        [0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.025]
    """

    lr: float
    best: Best = ("min", "loss")
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    cooldown: int = 0
    final: float = 0.0

    def __post_init__(self) -> None:
        check_best(self.best)
        check_not_negative(patience=self.patience, cooldown=self.cooldown)
        check_interval(0, math.inf, lr=self.lr, threshold=self.threshold, final=self.final)
        check_interval(0, 1, factor=self.factor)
        for name in ("lr", "factor", "threshold", "final"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def __call__(self, values: Iterable[float]) -> float:
        check_kind("a list of numbers", Iterable, values=values)
        values = plain_numbers(list(values), "values").tolist()
        sign = 1 if self.best[0] == "max" else -1
        lr, best, waited, cooling = self.lr, -math.inf, 0, 0  # best: a value times sign, so that the greatest is best
        for value in values:
            signed = sign * float(value)
            least = best * (1 + math.copysign(self.threshold, best)) if math.isfinite(best) else best
            improved = signed > least
            best = signed if improved else best
            waited = 0 if improved or cooling else waited + 1
            cooling = max(cooling - 1, 0)
            if waited > self.patience:
                smaller = max(lr * self.factor, self.final)
                lr = smaller if lr - smaller > 1e-8 else lr  # PyTorch's eps
                waited, cooling = 0, self.cooldown
        return lr
