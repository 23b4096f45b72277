"""Attention, from inner products to many heads."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task
from minigrad.rules.attention import scaled_dot_product_attention

ATTENTION = """scores = q @ k.T / np.sqrt(q.shape[-1])
e = np.exp(scores - scores.max(axis=-1, keepdims=True))
weights = e / e.sum(axis=-1, keepdims=True)
out = weights @ v"""


@task("10_1_attention.py")
def attention(rng: np.random.Generator) -> Iterator[Case]:
    for n, d, e, causal in ((2, 1, 1, False), (3, 4, 2, False), (3, 4, 2, True), (1, 2, 3, True), (5, 2, 2, True)):
        q, k, v = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, e))
        mask = np.tri(n, dtype=bool) if causal else None
        out = np.asarray(scaled_dot_product_attention(q, k, v, mask=mask))
        weights = np.asarray(scaled_dot_product_attention(q, k, np.eye(n), mask=mask))
        inputs, names = {"q": q, "k": k, "v": v, "causal": causal}, ("out", "weights")
        yield Case("attention(q, k, v, causal)", inputs, (out, weights), names, about="mask" if causal else "")
        if n == 2:
            yield Case("attention(q, k, v)", {"q": q, "k": k, "v": v}, (out, weights), names, about="defaults")


@task("10_2_attention_backward.py", by_hand=True)
def attention_backward(rng: np.random.Generator) -> Iterator[Case]:
    for n, d, e in ((1, 1, 1), (3, 2, 2), (4, 3, 2), (2, 2, 2)):
        q, k, v, g = (rng.normal(size=(n, m)) for m in (d, d, e, e))
        names = tuple(f"gradient of {name}" for name in "qkv")
        yield derived("attention_backward(q, k, v, g)", {"q": q, "k": k, "v": v, "g": g}, names, ATTENTION)


@task("10_3_heads.py")
def heads(rng: np.random.Generator) -> Iterator[Case]:
    for batch, n, h, size in ((1, 2, 2, 2), (2, 3, 2, 4), (2, 3, 3, 1), (1, 4, 1, 2)):
        x = rng.normal(size=(batch, n, h * size))
        split = np.stack(np.split(x, h, axis=-1), axis=1)
        yield Case("split_heads(x, heads)", {"x": x, "heads": h}, split)
        yield Case("merge_heads(x)", {"x": split}, x)
    x = rng.normal(size=(2, 3, 4)).astype(np.float32)
    yield Case("merge_heads(split_heads(x, 2))", {"x": x}, x, about="float32")


@task("10_4_positions.py")
def positions(rng: np.random.Generator) -> Iterator[Case]:
    for n, d, about in ((3, 2, ""), (2, 4, ""), (4, 6, ""), (3, 5, "odd_width"), (9, 4, "defaults")):
        base = 10000.0 if about == "defaults" else float(rng.integers(20, 900))
        hands = np.exp(1j * np.outer(np.arange(n), base ** -(np.arange(0, d, 2) / d)))  # each turns on a circle
        want = np.stack([hands.imag, hands.real], axis=-1).reshape(n, -1)[:, :d]
        inputs = {"n": n, "d": d} | ({} if about == "defaults" else {"base": base})
        yield Case(f"positions({', '.join(inputs)})", inputs, want, about=about)
