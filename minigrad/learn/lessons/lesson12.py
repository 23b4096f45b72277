"""A tiny GPT: its cache, and sampling."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.learn.tasks import AtMost, Case, task
from minigrad.rules.attention import scaled_dot_product_attention
from minigrad.rules.neural import softmax


@task("12_1_cache.py")
def cache(rng: np.random.Generator) -> Iterator[Case]:
    names = ("out", "keys", "values")
    for n, d in ((0, 2), (1, 1), (3, 2), (5, 4)):
        inputs = _cached(rng, n, d)
        keys = np.vstack([inputs["keys"], inputs["x"] @ inputs["Wk"]])
        values = np.vstack([inputs["values"], inputs["x"] @ inputs["Wv"]])
        query = (inputs["x"] @ inputs["Wq"])[None]
        out = np.asarray(scaled_dot_product_attention(query, keys, values))[0]
        yield Case(
            "step(x, Wq, Wk, Wv, keys, values)", inputs, (out, keys, values), names, about="" if n else "empty_cache"
        )
    d, n = 16, 200
    enough = 3 * d * d + 2 * (n + 1) * d + 20 * (n + 1) + 4 * (n + 1) * d
    yield Case("work(step, x, Wq, Wk, Wv, keys, values)", _cached(rng, n, d), AtMost(enough), about="cache")


def _cached(rng: np.random.Generator, n: int, d: int) -> dict[str, Any]:
    x, keys, values = rng.normal(size=d), *rng.normal(size=(2, n, d))
    return {"x": x, **dict(zip(("Wq", "Wk", "Wv"), rng.normal(size=(3, d, d)))), "keys": keys, "values": values}


@task("12_2_sampling.py")
def sampling(rng: np.random.Generator) -> Iterator[Case]:
    for size, temperature in ((3, 1.0), (5, 0.5), (4, 3.0)):
        logits = rng.normal(size=size)
        want = np.asarray(softmax(logits / temperature))
        yield Case("probabilities(logits, temperature)", {"logits": logits, "temperature": temperature}, want)
    large = rng.normal(size=4) + [1000, 0, 1000, 1000]
    yield Case("probabilities(logits, 1.0)", {"logits": large}, np.asarray(softmax(large)), about="stable")
    logits = rng.normal(size=4)
    p = np.asarray(softmax(logits / 0.7))
    u = (np.arange(200) + float(rng.uniform(0.2, 0.8))) / 200
    drawn = "[sample(logits, temperature, float(u)) for u in us]"
    want = np.searchsorted(np.cumsum(p), u, side="right")
    inputs = {"logits": logits, "temperature": 0.7, "us": u}
    yield Case(drawn, inputs, want, about="frequencies")
    # No two are alike, and the largest is in two places, because a program may name one by luck.
    apart = rng.permutation(4) * 0.5
    for given in (apart, apart[::-1].copy()):
        yield Case("sample(logits, 0, 0.9)", {"logits": given}, int(np.argmax(given)), about="zero_temperature")
    yield Case("isinstance(sample(logits, 1.0, 0.3), int)", {"logits": logits}, True, about="token")
    p = np.asarray(softmax(logits))
    middle = {"logits": logits, "temperature": 1.0, "us": np.cumsum(p) - p / 2}  # each token, however rare it is, once
    yield Case(drawn, middle, np.arange(4), about="frequencies")
    # The first running sum is 0, exactly: where it is compared with u = 0, larger and not smaller are two things.
    yield Case("sample(logits, 1.0, 0.0)", {"logits": np.array([-1000.0, *logits])}, 1, about="impossible")
