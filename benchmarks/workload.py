"""The training step that is measured: sizes, weights and batches, the same for every peer.

A two-layer pre-norm Transformer encoder classifies padded token sequences: embedding plus sinusoidal positions, two
layers of LayerNorm, self-attention and a feed-forward part, LayerNorm, the mean over the tokens, an affine map, softmax
cross-entropy. One step is forward, backward and Adam (lr 1e-3, betas 0.9 and 0.999, eps 1e-8), in float32, no dropout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

BATCHES = 8


@dataclass(frozen=True)
class Sizes:
    """batch B, length L, width D, heads H, vocabulary V, classes C."""

    B: int
    L: int
    D: int
    H: int
    V: int
    C: int
    activation: str = "relu"


SIZES = {
    "tiny": Sizes(16, 16, 32, 2, 100, 2),
    "toy": Sizes(32, 32, 64, 4, 1000, 6),
    "small": Sizes(32, 128, 256, 8, 5000, 6),
    "toy_gelu": Sizes(32, 32, 64, 4, 1000, 6, "gelu_tanh"),
    "small_gelu": Sizes(32, 128, 256, 8, 5000, 6, "gelu_tanh"),
}

# The parameters of one layer in the order in which they are drawn, each with its shape in units of D.
LAYER = {
    "g1": (1,), "b1": (1,), "Wq": (1, 1), "bq": (1,), "Wk": (1, 1), "bk": (1,), "Wv": (1, 1), "bv": (1,),
    "Wo": (1, 1), "bo": (1,), "g2": (1,), "b2": (1,), "W1": (1, 4), "c1": (4,), "W2": (4, 1), "c2": (1,),
}  # fmt: skip


def weights_and_batches(work: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Initial weights by name, and ``tok`` (8, B, L), ``mask`` (8, B, L), ``y`` (8, B) and the positions ``pe`` (L, D).

    Drawn with ``RandomState``, whose stream is the same in every version of NumPy. Weights are (in, out).
    """
    s = SIZES[work]
    shapes: dict[str, tuple[int, ...]] = {"E": (s.V, s.D)}
    for layer in "01":
        shapes |= {name + layer: tuple(n * s.D for n in units) for name, units in LAYER.items()}
    shapes |= {"gf": (s.D,), "bf": (s.D,), "Wc": (s.D, s.C), "bc": (s.C,)}
    random = np.random.RandomState(1234)
    weights = {}
    for name, shape in shapes.items():
        if name == "E":
            array = 0.5 * random.randn(*shape)
        elif len(shape) == 2:  # Xavier uniform
            array = random.uniform(-1, 1, shape) * np.sqrt(6 / sum(shape))
        else:
            array = np.ones(shape) if name[0] == "g" else np.zeros(shape)
        weights[name] = np.ascontiguousarray(array, dtype=np.float32)
    tok = random.randint(1, s.V, (BATCHES, s.B, s.L))
    lengths = random.randint(s.L // 2, s.L + 1, (BATCHES, s.B))
    mask = np.arange(s.L) < lengths[..., None]
    labels = random.randint(0, s.C, (BATCHES, s.B)).astype(np.int64)
    angle = np.arange(s.L)[:, None] / 10000 ** (2 * np.arange(s.D // 2) / s.D)
    positions = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(s.L, s.D).astype(np.float32)
    return weights, {"tok": (tok * mask).astype(np.int64), "mask": mask, "y": labels, "pe": positions}
