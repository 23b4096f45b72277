"""Find the planted bug."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task


@task("7_1_find_the_bug.py")
def find_the_bug(rng: np.random.Generator) -> Iterator[Case]:
    for rows, d, k in ((1, 2, 3), (3, 2, 4)):
        x, y = rng.normal(size=(2, rows, d))
        W1, W2 = rng.normal(size=(d, k)), rng.normal(size=(k, d))
        names = ("loss", "gradient of x", "gradient of W1", "gradient of W2")
        inputs, forward = {"x": x, "W1": W1, "W2": W2, "y": y}, "z = x @ W1\nh = np.maximum(z, 0)\nout = x + h @ W2"
        forward += "\nloss = ((out - y) ** 2).sum()"
        yield derived("network(x, W1, W2, y)", inputs, names, forward)


@task("7_2_stale_value.py")
def stale_value(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns in ((1, 2), (3, 2)):
        x, g = rng.normal(size=(2, rows, columns))
        scale = rng.normal(size=columns) + 1
        names = ("out", "gradient of x", "gradient of scale")
        inputs, forward = {"x": x, "scale": scale, "g": g}, "y = x * scale\nh = np.tanh(y)\nout = y + h"
        yield derived("layer(x, scale, g)", inputs, names, forward)


@task("7_3_find_the_nan.py")
def find_the_nan(rng: np.random.Generator) -> Iterator[Case]:
    def asked(words: Any, W: Any, about: str) -> Case:
        length = np.linalg.norm(words @ W, axis=1, keepdims=True)
        far = length[:, 0] > 1
        want = (float((length[far] - 1).sum()), words[far].T @ (words[far] @ W / length[far]))
        return Case("gradient(words, W)", {"words": words, "W": W}, want, ("loss", "gradient of W"), about=about)

    for rows in (2, 3, 4):  # one longer than 1, one shorter, and then rows of zeros
        words, W = rng.normal(size=(rows, 2)), rng.normal(size=(2, 3))
        words *= np.array([[1.5], [0.5], [0.0], [0.0]])[:rows] / np.linalg.norm(words @ W, axis=1, keepdims=True)
        words = np.round(words, 3) + 0.0  # short enough to be typed in, and no -0
        yield asked(words, W, "zero_row" if rows > 2 else "")
    yield asked(np.array([[5.0, 0.0], [0.0, 2.0]]), W * [[1.0], [0.0]], "zero_length")
