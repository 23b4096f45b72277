"""The Transformer classifier, every gradient."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task

CLASSIFIER = """scores = x @ x.T / np.sqrt(x.shape[-1])
e = np.exp(scores - scores.max(axis=-1, keepdims=True))
h = x + e / e.sum(axis=-1, keepdims=True) @ x
z = h @ W1
r = np.maximum(z, 0)
out = h + r @ W2
mean = out.mean(axis=0)
logits = mean @ C
loss = np.log(np.exp(logits).sum()) - logits[label]"""


@task("11_1_transformer_block.py", by_hand=True)
def transformer_block(rng: np.random.Generator) -> Iterator[Case]:
    for n, d, k, classes in ((1, 2, 2, 2), (3, 2, 4, 3), (4, 3, 5, 2)):
        x, W1, W2, C = (rng.normal(size=shape) for shape in ((n, d), (d, k), (k, d), (d, classes)))
        W1 = W1 / 4 if n == 4 else W1  # small values before the relu: they count, as soon as they are above 0
        label = 1 if n == 3 else int(rng.integers(classes))  # of three classes the middle one
        inputs = {"x": x, "W1": W1, "W2": W2, "C": C, "label": label}
        names = ("loss", *(f"gradient of {name}" for name in ("x", "W1", "W2", "C")))
        yield derived("classifier(x, W1, W2, C, label)", inputs, names, CLASSIFIER)
