"""Schedules against PyTorch's, the paper's formula, and their first and last steps."""

import itertools
import math
import pickle

import numpy as np
import pytest

from minigrad import ArgumentError
from nn import (
    SGD,
    Parameter,
    PlateauSchedule,
    cosine_schedule,
    inverse_sqrt_schedule,
    linear_schedule,
    one_cycle_schedule,
    step_schedule,
)
from tests.lazy import torch

STEPS, WARMUP, PEAK, FINAL = 40, 10, 0.3, 0.06


def rates_of_pytorch(make, steps=STEPS) -> list[float]:
    """The learning rate before each step; ``make`` gives the scheduler of an optimizer whose lr is PEAK."""
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=PEAK)
    scheduler, rates = make(optimizer), []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def rates(schedule, steps=STEPS) -> list[float]:
    return [schedule(step) for step in range(steps)]


schedulers = torch.optim.lr_scheduler


def test_cosine_equals_pytorch() -> None:
    expected = rates_of_pytorch(lambda o: schedulers.CosineAnnealingLR(o, STEPS, eta_min=FINAL), STEPS + 1)
    np.testing.assert_allclose(rates(cosine_schedule(PEAK, STEPS, final=FINAL), STEPS + 1), expected, rtol=1e-12)


def test_linear_equals_pytorch() -> None:
    """And stays at its end."""
    expected = rates_of_pytorch(lambda o: schedulers.LinearLR(o, 1.0, FINAL / PEAK, STEPS), STEPS + 20)
    np.testing.assert_allclose(rates(linear_schedule(PEAK, STEPS, final=FINAL), STEPS + 20), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["cosine", "linear"])
def test_with_warm_up_equals_pytorch(kind) -> None:
    def in_sequence(optimizer):
        first = schedulers.LinearLR(optimizer, 1 / WARMUP, 1.0, WARMUP - 1)
        second = {
            "cosine": lambda: schedulers.CosineAnnealingLR(optimizer, STEPS - WARMUP, eta_min=FINAL),
            "linear": lambda: schedulers.LinearLR(optimizer, 1.0, FINAL / PEAK, STEPS - WARMUP),
        }[kind]()
        return schedulers.SequentialLR(optimizer, [first, second], milestones=[WARMUP])

    ours = {"cosine": cosine_schedule, "linear": linear_schedule}[kind](PEAK, STEPS, WARMUP, FINAL)
    np.testing.assert_allclose(rates(ours), rates_of_pytorch(in_sequence), rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"rise": 0.5, "start": 0.1, "final": 0.02}, {"rise": 0.275}])
def test_one_cycle_equals_pytorch(settings: dict[str, float]) -> None:
    start = settings.get("start", PEAK / 25)
    options = {"pct_start": settings.get("rise", 0.3), "div_factor": PEAK / start}
    options["final_div_factor"] = start / settings.get("final", start / 1e4)
    expected = rates_of_pytorch(
        lambda o: schedulers.OneCycleLR(o, PEAK, total_steps=STEPS, cycle_momentum=False, **options), STEPS - 1
    )
    ours = one_cycle_schedule(PEAK, STEPS, **settings)
    np.testing.assert_allclose(rates(ours, STEPS - 1), expected, rtol=1e-12)
    assert ours(STEPS - 1) == ours(STEPS + 50) == pytest.approx(settings.get("final", start / 1e4), rel=1e-12)


def test_one_cycle_at_its_ends() -> None:
    assert one_cycle_schedule(1.0, 10, rise=0.1)(0) == one_cycle_schedule(1.0, 10, rise=1.0)(9) == 1.0


def test_steps_equal_pytorch() -> None:
    expected = rates_of_pytorch(lambda o: schedulers.StepLR(o, 7, 0.3))
    np.testing.assert_allclose(rates(step_schedule(PEAK, 7, 0.3)), expected, rtol=1e-12)


def test_inverse_sqrt_equals_the_formula_in_pytorch() -> None:
    def paper(step):
        return 512**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4000**-1.5) / PEAK

    expected = rates_of_pytorch(lambda o: schedulers.LambdaLR(o, paper), 50)
    np.testing.assert_allclose(rates(inverse_sqrt_schedule(512, 4000), 50), expected, rtol=1e-12)


def test_inverse_sqrt_is_highest_in_the_last_step_of_the_warm_up() -> None:
    """The base model of the paper: 7e-4 at step 4000."""
    schedule = inverse_sqrt_schedule(512, 4000)
    assert (
        schedule(3999)
        == max(rates(schedule, 8000))
        == pytest.approx((512 * 4000) ** -0.5)
        == pytest.approx(6.99e-4, 1e-3)
    )
    assert schedule(0) == pytest.approx(schedule(3999) / 4000)
    assert schedule(15999) == pytest.approx(schedule(3999) / 2)
    assert inverse_sqrt_schedule(512, 4000, scale=2.0)(7) == 2 * schedule(7)


@pytest.mark.parametrize("make", [cosine_schedule, linear_schedule])
def test_ends(make) -> None:
    schedule = make(PEAK, STEPS, WARMUP, FINAL)
    assert schedule(0) == pytest.approx(PEAK / WARMUP)  # the first step moves already
    assert schedule(WARMUP - 1) == schedule(WARMUP) == PEAK
    middle = WARMUP + (STEPS - WARMUP) // 2
    assert schedule(middle) == pytest.approx((PEAK + FINAL) / 2)
    assert schedule(STEPS) == pytest.approx(FINAL) and schedule(10 * STEPS) == schedule(STEPS)
    falling = rates(schedule)[WARMUP:]
    assert all(a > b for a, b in itertools.pairwise(falling))
    assert make(PEAK, STEPS)(0) == PEAK  # no warm-up
    assert make(PEAK, STEPS, 1)(0) == PEAK


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("settings", [
    {},
    {"patience": 0},
    {"patience": 2, "factor": 0.5, "cooldown": 3},
    {"patience": 1, "threshold": 0.3, "final": 0.02},
    {"patience": 0, "factor": 0.0, "threshold": 0.0},
    {"patience": 0, "factor": 1e-4},
])  # fmt: skip
@pytest.mark.parametrize("sign", [1, -1])
def test_a_plateau_equals_pytorch(mode, settings, sign) -> None:
    """Of values that fall slowly, rise and are NaN once. The least of negative values is the greatest without signs."""
    generator = np.random.default_rng(0)
    values = 3 + np.exp(-np.arange(120) / 9) + 0.02 * generator.standard_normal(120)
    values[7] = math.nan
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=PEAK)
    theirs = {"min_lr" if name == "final" else name: value for name, value in settings.items()}
    scheduler = schedulers.ReduceLROnPlateau(optimizer, mode, **theirs)
    ours = mode if sign > 0 else {"min": "max", "max": "min"}[mode]
    schedule = PlateauSchedule(PEAK, (ours, "a"), **settings)  # type: ignore[arg-type]
    seen = {schedule([])}
    for epoch, value in enumerate(values.tolist()):
        scheduler.step(value)
        rate = schedule((sign * values[: epoch + 1]).tolist())
        assert rate == optimizer.param_groups[0]["lr"]
        seen.add(rate)
    assert max(seen) == PEAK and len(seen) > 1


@pytest.mark.parametrize("flat", [-1.0, 0.0, 1.0, -math.inf, math.inf])
@pytest.mark.parametrize("mode", ["min", "max"])
def test_a_value_that_stays_the_same_is_a_plateau(mode, flat) -> None:
    schedule = PlateauSchedule(1, (mode, "a"), factor=np.float32(0.5), patience=1)  # type: ignore[arg-type]
    found = [schedule([flat] * epoch) for epoch in range(6)]
    first = 2 if flat == {"min": math.inf, "max": -math.inf}[mode] else 3  # the worst of all values never improves
    assert found == [1.0 if epoch < first else 0.5 if epoch < first + 2 else 0.25 for epoch in range(6)]
    assert all(type(rate) is float for rate in found)


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("offset", [-1.0, 1.0])
def test_worse_and_worse_values_never_improve(mode, offset) -> None:
    worse = offset + 5e-5 * np.arange(100) * (1 if mode == "min" else -1)
    schedule = PlateauSchedule(0.1, (mode, "a"), patience=10)
    assert schedule(worse[:11]) == 0.1 > schedule(worse[:12]) > schedule(worse)


def test_an_optimizer_takes_them() -> None:
    p, schedule = Parameter([1.0]), cosine_schedule(0.5, 2)
    optimizer = SGD([p], lr=123.0)
    for step in range(2):
        optimizer.lr = schedule(step)
        p.grad = [1.0]
        optimizer.step()
    assert p.item() == pytest.approx(1 - 0.5 - 0.25)
    assert type(schedule(1)) is float and math.isfinite(schedule(10**9))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: inverse_sqrt_schedule(0, 10), "d_model must be a positive integer, got 0"),
        (lambda: inverse_sqrt_schedule(16, 0), "warmup must be a positive integer, got 0"),
        (lambda: cosine_schedule(0.1, 0), "steps must be a positive integer, got 0"),
        (lambda: cosine_schedule(0.1, 10, 10), "warmup must be at least 0 and less than steps=10, got 10"),
        (lambda: linear_schedule(0.1, 10, -1), "warmup must be an integer, 0 or more, got -1"),
        (lambda: linear_schedule(-0.1, 10), "peak must be a number >= 0, got -0.1"),
        (lambda: cosine_schedule(0.1, 10, final=math.nan), "final must be a number >= 0, got nan"),
        (lambda: inverse_sqrt_schedule(16, 10, scale=math.inf), "scale must be a number >= 0, got inf"),
        (lambda: PlateauSchedule(0.1, "loss"), r'best must be \("min", name\) or \("max", name\), got .loss.'),  # type: ignore[arg-type]
        (lambda: PlateauSchedule(0.1, patience=-1), "patience must be an integer, 0 or more, got -1"),
        (lambda: PlateauSchedule(0.1, cooldown=0.5), "cooldown must be an integer, 0 or more, got 0.5"),  # type: ignore[arg-type]
        (lambda: PlateauSchedule(0.1, factor=1.5), r"factor must be in \[0, 1\], got 1.5"),
        (lambda: PlateauSchedule(-0.1), "lr must be a number >= 0, got -0.1"),
        (lambda: PlateauSchedule(0.1, threshold=math.nan), "threshold must be a number >= 0, got nan"),
        (lambda: cosine_schedule(1.0, 10, warmup=2.5), "warmup must be an integer, 0 or more, got 2.5"),  # type: ignore[arg-type]
        (lambda: linear_schedule(1.0, 10, warmup=0.1), "warmup must be an integer, 0 or more, got 0.1"),  # type: ignore[arg-type]
        (lambda: linear_schedule(1.0, 10, warmup=True), "warmup must be an integer, 0 or more, got True"),
        (lambda: linear_schedule(1.0, 10, warmup=None), "warmup must be an integer, 0 or more, got None"),  # type: ignore[arg-type]
        (lambda: cosine_schedule(1.0, 10.5), "steps must be a positive integer, got 10.5"),  # type: ignore[arg-type]
        (lambda: inverse_sqrt_schedule(16, 2.5), "warmup must be a positive integer, got 2.5"),  # type: ignore[arg-type]
        (lambda: one_cycle_schedule(1.0, 2.5), "steps must be a positive integer, got 2.5"),  # type: ignore[arg-type]
        (lambda: one_cycle_schedule("1", 2), "peak must be a number >= 0, got '1'"),  # type: ignore[arg-type]
        (lambda: one_cycle_schedule(1.0, 2, start="1"), "start must be a number >= 0, got '1'"),  # type: ignore[arg-type]
        (lambda: step_schedule(1.0, 2.5), "every must be a positive integer, got 2.5"),  # type: ignore[arg-type]
        (lambda: cosine_schedule(1.0, 10)(2.5), "step must be an integer, 0 or more, got 2.5"),  # type: ignore[arg-type]
        (lambda: cosine_schedule("0.1", 10), "peak must be a number >= 0, got '0.1'"),  # type: ignore[arg-type]
        (lambda: one_cycle_schedule(1.0, 10, rise=2), r"rise must be in \[0, 1\], got 2"),
        (lambda: step_schedule(PEAK, 0), "every must be a positive integer, got 0"),
    ],
)
def test_bad_settings(make, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


@pytest.mark.parametrize("peak", [0.1, 0.3, 0.7, 3e-4])
@pytest.mark.parametrize("warmup", [0, 1, 3, 7, 29])
@pytest.mark.parametrize("make", [cosine_schedule, linear_schedule])
def test_no_rate_is_more_than_the_peak(make, warmup, peak) -> None:
    found = rates(make(peak, 30, warmup, peak / 3))
    assert max(found) == found[max(warmup - 1, 0)] == peak and make(peak, 30, warmup, peak / 3)(30) == peak / 3


@pytest.mark.parametrize(
    "make",
    [
        lambda n, f: inverse_sqrt_schedule(n(100), n(100), scale=f(0.5)),
        lambda n, f: cosine_schedule(f(0.5), n(120), n(100), f(0.25)),
        lambda n, f: linear_schedule(f(0.5), n(120), n(100), f(0.25)),
        lambda n, f: one_cycle_schedule(f(0.5), n(120), rise=f(0.25)),
        lambda n, f: step_schedule(f(0.5), n(100), f(0.25)),
    ],
)
def test_numbers_of_numpy_give_the_same_value_as_those_of_python(make) -> None:
    """int8 would overflow at step 127, and float16 has three digits."""
    ours, plain = make(np.int8, np.float16), make(int, float)
    assert pickle.loads(pickle.dumps(ours)) == ours == plain and repr(ours) == repr(plain)
    for step in (0, 99, 110, 127):
        assert ours(np.int8(step)) == plain(step) and type(ours(np.int8(step))) is float


def test_steps_that_are_none_raise() -> None:
    for schedule in (inverse_sqrt_schedule(16, 10), cosine_schedule(0.1, 10, 5), linear_schedule(0.1, 10)):
        with pytest.raises(ArgumentError, match="step must be an integer, 0 or more, got -1"):
            schedule(-1)
