"""The size of the first weights, the rate of each step, and the weight decay of AdamW, all in closed forms."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from minigrad.learn.data import Code
from minigrad.learn.tasks import AtMost, Case, task


@task("14_1_first_weights.py")
def first_weights(rng: np.random.Generator) -> Iterator[Case]:
    for widths, keeps in (((4, 2), 0.5), ((9, 3, 5), 1.0), ((3, 4, 2), 0.5), ((5, 7, 3, 2), 0.36)):
        normals = [rng.normal(size=shape) for shape in pairwise(widths)]
        want = [normals[0] * widths[0] ** -0.5, *(n * len(n) ** -0.5 * keeps**-0.5 for n in normals[1:])]
        names = tuple(f"W{i}" for i in range(1, len(widths)))
        inputs = {"normals": normals, "keeps": keeps}
        about = "behind_a_bend" if len(want) > 1 and keeps < 1 else ""
        yield Case("tuple(start(normals, keeps))", inputs, tuple(want), names, about=about)


@task("14_2_schedule.py")
def schedule(rng: np.random.Generator) -> Iterator[Case]:
    def asked(step: int, warmup: int, steps: int, about: str = "") -> Case:
        peak = float(rng.uniform(0.1, 0.9))
        fallen = min(max(step - warmup, 0) / (steps - warmup), 1.0)
        wave = round(float(np.cos(np.pi / 2 * fallen)) ** 2, 15)  # 0 at the end, and not 1e-33
        want = peak * min(1.0, (step + 1) / max(warmup, 1)) * wave
        inputs = {"step": step, "peak": peak, "warmup": warmup, "steps": steps}
        return Case("rate(step, peak, warmup, steps)", inputs, want, about=about)

    for step, warmup, steps in ((1, 4, 20), (0, 5, 9), (4, 5, 9), (3, 3, 11), (7, 3, 11), (9, 3, 11), (6, 2, 17)):
        yield asked(step, warmup, steps)
    for step in (0, 3, 6):
        yield asked(step, 0, 8, "no_warmup")
    for step in (9, 10, 14, 90):
        yield asked(step, 2, 9, "stays_0")


@task("14_3_weight_decay.py")
def weight_decay(rng: np.random.Generator) -> Iterator[Case]:
    near, sign = "lambda g: g / (np.abs(g) + 0.5)", "lambda g: np.sign(g)"
    for text, shape, steps in ((sign, (2,), 1), (near, (3,), 2), (near, (2, 2), 4)):
        w, gradients = rng.normal(size=shape), list(rng.normal(size=(steps, *shape)))
        rates, decay = rng.uniform(0.05, 0.3, steps).tolist(), float(rng.uniform(0.2, 0.8))
        # What w is at first, and each direction, shrinks by 1 - rate * decay in every later step.
        shrink = np.cumprod([1.0, *(1 - rate * decay for rate in rates[::-1])])[::-1]
        f = eval(text, {"np": np})
        want = w * shrink[0] - sum(s * rate * f(g) for s, rate, g in zip(shrink[1:], rates, gradients))
        inputs = {"w": w, "gradients": gradients, "direction": Code(text), "rates": rates, "decay": decay}
        about = "later_steps" if steps > 1 else ""
        yield Case("adamw(w, gradients, direction, rates, decay)", inputs, want, about=about)
    program = "direction = Calls(direction)\nadamw(w, gradients, direction, rates, decay)\ndirection.count"
    yield Case(program, inputs, AtMost(steps), about="one_call")
