"""A first hidden layer, and when to stop."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task

NETWORK = """z = x @ W1 + b1
h = np.tanh(z)
logits = h @ W2 + b2
e = np.exp(logits)
log_p = logits - np.log(e.sum(axis=-1, keepdims=True))
right = log_p[np.arange(len(labels)), labels]
loss = -right.mean()"""


@task("13_1_hidden_layer.py", by_hand=True)
def hidden_layer(rng: np.random.Generator) -> Iterator[Case]:
    for rows, features, hidden, classes in ((1, 1, 2, 3), (4, 2, 3, 2), (5, 3, 4, 3)):
        x, labels = rng.normal(size=(rows, features)), rng.integers(0, classes, rows)
        W1, b1 = rng.normal(size=(features, hidden)), rng.normal(size=hidden)
        W2, b2 = rng.normal(size=(hidden, classes)), rng.normal(size=classes)
        inputs = {"x": x, "labels": labels, "W1": W1, "b1": b1, "W2": W2, "b2": b2}
        names = ("loss", *(f"gradient of {name}" for name in ("W1", "b1", "W2", "b2")))
        yield derived(f"network({', '.join(inputs)})", inputs, names, NETWORK)


@task("13_2_early_stopping.py")
def early_stopping(rng: np.random.Generator) -> Iterator[Case]:
    def asked(losses: list[float], patience: int, best: int, about: str = "") -> Case:
        return Case("best_step(losses, patience)", {"losses": losses, "patience": patience}, best, about=about)

    low, high, top = sorted(rng.uniform(0, 3, 3).tolist())
    yield asked([high, low, top], 5, 1)
    yield asked([high], 2, 0)
    yield asked([high, low, top, top, low / 2], 2, 1, "never_seen")
    yield asked([high, low, top, top, low / 2], 3, 4)
    yield asked([low, top, high, low / 2], 2, 0, "never_seen")
    yield asked([top, high, top, low, top, low / 2], 2, 5)
    yield asked([top, low, high, low, top], 3, 1, "first_lowest")
    yield asked([top, high, high, low, top, low / 2], 2, 5, "first_lowest")
    falling = np.cumsum(-rng.uniform(0.01, 0.1, 30)) + 5
    rising = falling[-1] + np.cumsum(rng.uniform(0.01, 0.1, 20))
    yield asked([*falling.tolist(), *rising.tolist(), 0.0], 20, 29, "never_seen")
    yield asked([*falling.tolist(), *rising.tolist(), 0.0], 21, 50)
