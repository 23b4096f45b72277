"""Broadcasting and its reverse."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task


@task("5_1_unbroadcast.py", by_hand=True)
def unbroadcast(rng: np.random.Generator) -> Iterator[Case]:
    for full, shape in (
        ((2, 3), (3,)),
        ((2, 3), (2, 1)),
        ((2, 3), (1, 3)),
        ((2, 3), (2, 3)),
        ((2, 3), ()),
        ((4, 2, 3), (2, 1)),
        ((2, 1, 3), (1, 1, 3)),
        ((1, 3), (3,)),
    ):
        g = rng.normal(size=full)
        inputs, leaves = {"g": g, "shape": shape}, {"x": np.zeros(shape), "full": full, "g": g}
        yield derived(
            "unbroadcast(g, shape)", inputs, (), "y = np.broadcast_to(x, full)", about="broadcast", leaves=leaves
        )
    g = rng.normal(size=(2, 3)).astype(np.float32)
    yield Case("unbroadcast(g, shape)", {"g": g, "shape": (3,)}, g.sum(0), tolerance=1e-5, about="float32")


@task("5_2_scale_and_shift.py", by_hand=True)
def scale_and_shift(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns in ((2, 2), (4, 3), (1, 3), (3, 1)):
        x, g = rng.normal(size=(2, rows, columns))
        scale, shift = rng.normal(size=(2, columns))
        inputs = {"x": x, "scale": scale, "shift": shift, "g": g}
        names = ("gradient of x", "gradient of scale", "gradient of shift")
        yield derived("scale_and_shift(x, scale, shift, g)", inputs, names, "y = x * scale + shift", about="broadcast")
