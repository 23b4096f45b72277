"""The training steps that are measured: sizes, weights and batches, the same for every peer.

The classifier: a two-layer pre-norm Transformer encoder reads padded token sequences: embedding plus sinusoidal positions, two
layers of LayerNorm, self-attention and a feed-forward part, LayerNorm, the mean over the tokens, an affine map, softmax
cross-entropy. The GPT: learned positions, causal attention, the output tied to the embedding, the cross-entropy of each next
token. One step is forward, backward and Adam (lr 1e-3, betas 0.9 and 0.999, eps 1e-8), in float32, no dropout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    causal: bool = False
    layers: int = 2
    gpt: bool = False


SIZES = {
    "tiny": Sizes(16, 16, 32, 2, 100, 2),
    "toy": Sizes(32, 32, 64, 4, 1000, 6),
    "small": Sizes(32, 128, 256, 8, 5000, 6),
    "gpt_10m": Sizes(32, 256, 384, 6, 65, 0, "gelu", causal=True, layers=6, gpt=True),  # 10.8 million parameters
}
for name in ("toy", "small"):
    SIZES[f"{name}_gelu"] = replace(SIZES[name], activation="gelu_tanh")
    SIZES[f"{name}_causal"] = replace(SIZES[name], causal=True)
SIZES["toy_512"] = replace(SIZES["toy"], L=512, B=4)  # sixteen times as long, an eighth of the sequences
SIZES["encoder"] = replace(SIZES["toy_512"], layers=3)
SIZES |= {f"plain_{name}": SIZES[name] for name in ("tiny", "toy", "small")}  # see real/plain.py

# The parameters of one layer in the order in which they are drawn, each with its shape in units of D.
LAYER = {
    "g1": (1,), "b1": (1,), "Wq": (1, 1), "bq": (1,), "Wk": (1, 1), "bk": (1,), "Wv": (1, 1), "bv": (1,),
    "Wo": (1, 1), "bo": (1,), "g2": (1,), "b2": (1,), "W1": (1, 4), "c1": (4,), "W2": (4, 1), "c2": (1,),
}  # fmt: skip


def sizes(work: str | Sizes) -> Sizes:
    """The sizes of a work, some of which may be changed in its name: ``sizes("toy:L=512:B=4")``; or those given."""
    if isinstance(work, Sizes):
        return work
    name, *changes = work.split(":")
    pairs = (change.split("=") for change in changes)
    return replace(SIZES[name], **{field: int(value) for field, value in pairs})  # type: ignore[arg-type]


def shapes_of(s: Sizes) -> dict[str, tuple[int, ...]]:
    """The parameters' shapes by name; weights are (in, out)."""
    shapes: dict[str, tuple[int, ...]] = {"E": (s.V, s.D)}
    if s.gpt:
        shapes["P"] = (s.L, s.D)
    for layer in range(s.layers):
        shapes |= {f"{name}{layer}": tuple(n * s.D for n in units) for name, units in LAYER.items()}
    shapes |= {"gf": (s.D,), "bf": (s.D,)}
    return shapes if s.gpt else shapes | {"Wc": (s.D, s.C), "bc": (s.C,)}


def weights_and_batches(work: str | Sizes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Initial weights by name, and the batches: ``tok`` (8, B, L), ``mask`` (8, B, L), ``y``, and the positions ``pe`` (L, D).

    ``y`` is (8, B), for a GPT (8, B, L). Drawn with ``RandomState``, whose stream is the same in every version of NumPy.
    """
    s = sizes(work)
    random = np.random.RandomState(1234)
    weights = {name: _initial(name, shape, random, s.gpt) for name, shape in shapes_of(s).items()}
    if s.gpt:
        tok = random.randint(0, s.V, (BATCHES, s.B, s.L + 1))
        return weights, {"tok": tok[:, :, :-1].astype(np.int64), "y": tok[:, :, 1:].astype(np.int64)}
    tok = random.randint(1, s.V, (BATCHES, s.B, s.L))
    lengths = random.randint(s.L // 2, s.L + 1, (BATCHES, s.B))
    mask = np.arange(s.L) < lengths[..., None]
    labels = random.randint(0, s.C, (BATCHES, s.B)).astype(np.int64)
    return weights, {"tok": (tok * mask).astype(np.int64), "mask": mask, "y": labels, "pe": positions(s.L, s.D)}


def positions(L: int, D: int) -> Any:
    """The sinusoidal codes of the places 0 to L - 1: (L, D)."""
    angle = np.arange(L)[:, None] / 10000 ** (2 * np.arange(D // 2) / D)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(L, D).astype(np.float32)


def _initial(name: str, shape: tuple[int, ...], random: Any, gpt: bool) -> Any:
    if len(shape) == 1:
        array = np.ones(shape) if name[0] == "g" else np.zeros(shape)
    elif gpt:
        array = 0.02 * random.randn(*shape)
    elif name == "E":
        array = 0.5 * random.randn(*shape)
    else:  # Xavier uniform
        array = random.uniform(-1, 1, shape) * np.sqrt(6 / sum(shape))
    return np.ascontiguousarray(array, dtype=np.float32)
