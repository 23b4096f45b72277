"""Matmul, softmax, cross-entropy and layer norm by hand."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task
from minigrad.rules.neural import softmax as right_softmax

# m is the maximum of each row: it cancels, and no gradient goes through it.
SOFTMAX = "e = np.exp(x - m)\np = e / e.sum(axis=-1, keepdims=True)"
CROSS_ENTROPY = """z = logits - m
log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
right = log_p[np.arange(len(labels)), labels]
loss = -right.mean()"""
LAYER_NORM = """s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
n = (x - x.mean(axis=-1, keepdims=True)) / s
y = n * weight + bias"""


@task("6_1_matmul.py", by_hand=True)
def matmul(rng: np.random.Generator) -> Iterator[Case]:
    for batch, n, k, m in (((), 1, 2, 1), ((), 2, 3, 4), ((), 3, 3, 3), ((5,), 2, 3, 4), ((2, 3), 2, 2, 2)):
        x, W, g = rng.normal(size=(*batch, n, k)), rng.normal(size=(k, m)), rng.normal(size=(*batch, n, m))
        names, about = ("gradient of x", "gradient of W"), "batch" if batch else ""
        yield derived("matmul_backward(x, W, g)", {"x": x, "W": W, "g": g}, names, "y = x @ W", about=about)


@task("6_2_softmax.py", by_hand=True)
def softmax(rng: np.random.Generator) -> Iterator[Case]:
    for shape in ((3,), (2, 3), (2, 2, 4)):
        x = rng.normal(size=shape)
        yield Case("softmax(x)", {"x": x}, np.asarray(right_softmax(x)), about="batch" if len(shape) > 1 else "")
    x = rng.normal(size=(2, 3)) + 1000.0
    yield Case("softmax(x)", {"x": x}, np.asarray(right_softmax(x)), about="stable")
    x = rng.normal(size=(2, 3)) + [[0.0, 0, 0], [1000, 0, 1000]]  # each row needs a maximum of its own
    yield Case("softmax(x)", {"x": x}, np.asarray(right_softmax(x)), about="stable")
    for shape in ((3,), (2, 3), (2, 2, 4)):
        x, g = rng.normal(size=shape), rng.normal(size=shape)
        inputs, leaves = (
            {"p": np.asarray(right_softmax(x)), "g": g},
            {"x": x, "m": x.max(axis=-1, keepdims=True), "g": g},
        )
        yield derived("softmax_backward(p, g)", inputs, (), SOFTMAX, leaves=leaves, fixed=("g", "m"))
    x = rng.normal(size=(2, 3)).astype(np.float32)
    yield Case("softmax(x)", {"x": x}, np.asarray(right_softmax(x)), tolerance=1e-5, about="float32")


@task("6_3_cross_entropy.py", by_hand=True)
def cross_entropy(rng: np.random.Generator) -> Iterator[Case]:
    for rows, classes, scale in ((1, 2, 1.0), (4, 3, 1.0), (3, 5, 1000.0)):
        logits, labels = rng.normal(size=(rows, classes)) * scale, rng.integers(0, classes, rows)
        logits += 10 * (scale - 1) * np.arange(rows)[:, None]  # each row needs a maximum of its own
        about = "stable" if scale > 1 else ""
        inputs = {"logits": logits, "labels": labels}
        leaves = inputs | {"m": logits.max(axis=-1, keepdims=True)}
        program, names = "cross_entropy(logits, labels)", ("loss", "gradient of logits")
        yield derived(program, inputs, names, CROSS_ENTROPY, about=about, leaves=leaves, fixed=("m",))


@task("6_4_layer_norm.py", by_hand=True)
def layer_norm(rng: np.random.Generator) -> Iterator[Case]:
    for rows, d, eps in ((1, 3, 1e-5), (4, 3, 1e-5), (2, 5, 0.1), (2, 3, None)):
        x, g = rng.normal(size=(2, rows, d)) * 2 + 1
        weight, bias = rng.normal(size=(2, d)) + 1
        x = x if eps else x / 100  # so small that the eps of the signature shows
        inputs = {"x": x, "weight": weight, "bias": bias, "g": g} | ({"eps": eps} if eps else {})
        names = ("y", "gradient of x", "gradient of weight", "gradient of bias")
        program, about = f"layer_norm({', '.join(inputs)})", "" if eps else "defaults"
        leaves = inputs | {"eps": eps or 1e-5}
        yield derived(program, inputs, names, LAYER_NORM, about=about, leaves=leaves, fixed=("g", "eps"))
