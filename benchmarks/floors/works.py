"""The calls of one step of each work, from its sizes. Only what cannot be avoided stands here: no tape, no copy, no check.

A part that stands in the list several times, as those of each layer do, runs each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from benchmarks import real
from benchmarks.floors.parts import Part, affine, attention, gather, passes, product, scatter, vector
from benchmarks.workload import shapes_of, sizes

Parts = list[Part]


def layer(
    batch: int, L: int, D: int, H: int, hidden: int, activation: str, causal: bool = False, forward: bool = False
) -> Parts:
    """A layer of a Transformer, with two norms and two residual sums; queries, keys and values are one product."""
    N, norm = batch * L, "layer_norm forward" if forward else "layer_norm"
    parts = [passes(norm, (N, D), 2), passes("add", (N, D), 2 if forward else 4)]
    parts += affine(N, D, 3 * D, forward=forward) + [attention(batch * H, L, L, D // H, causal, forward)]
    parts += affine(N, D, D, forward=forward) + affine(N, D, hidden, forward=forward)
    parts += [passes(f"{activation} forward" if forward else activation, (N, hidden))]
    return parts + affine(N, hidden, D, forward=forward)


def adam(shapes: Any, clip: bool = False) -> Parts:
    n = sum(math.prod(shape) for shape in shapes)
    return [vector("adam", n), *([vector("clip", n)] if clip else [])]


def embedding(rows: int, ids: int, width: int) -> Parts:
    return [gather(rows, ids, width), scatter(rows, ids, width)]


def gpt(s: Any, clip: bool = True) -> Parts:
    N = s.B * s.L
    parts = embedding(s.V, N, s.D) + layer(s.B, s.L, s.D, s.H, 4 * s.D, "gelu", causal=True) * s.layers
    parts += [passes("layer_norm", (N, s.D)), passes("cross_entropy", (N, s.V))]
    return parts + affine(N, s.D, s.V)[::2] + [product(N, s.V, s.D)] + adam(shapes_of(s).values(), clip)


def classifier(s: Any) -> Parts:
    parts = embedding(s.V, s.B * s.L, s.D)
    parts += layer(s.B, s.L, s.D, s.H, 4 * s.D, "relu" if s.activation == "relu" else "gelu", s.causal) * s.layers
    parts += [passes("layer_norm", (s.B * s.L, s.D)), passes("add", (s.B * s.L, s.D))]
    return parts + affine(s.B, s.D, s.C) + adam(shapes_of(s).values())


def decoder(s: Any) -> Parts:
    N, shared = s.B * s.L, s.D * s.KV // s.H
    one = [passes("rms_norm", (N, s.D), 2), passes("add", (N, s.D), 4), passes("rotary", (N, s.D + shared), 2)]
    one += affine(N, s.D, s.D + 2 * shared)[::2] + [product(N, s.D + 2 * shared, s.D, right=True)]
    one += [attention(s.B * s.H, s.L, s.L, s.D // s.H, causal=True)]
    for into, out in ((s.D, s.D), (s.D, 2 * s.hidden), (s.hidden, s.D)):
        one += [product(N, into, out), product(into, N, out, left=True), product(N, out, into, right=True)]
    one.append(passes("swiglu", (N, s.hidden)))
    parts = embedding(s.V, N, s.D) + one * s.layers + [passes("rms_norm", (N, s.D)), passes("cross_entropy", (N, s.V))]
    parts += [product(N, s.D, s.V), product(s.D, N, s.V, left=True), product(N, s.V, s.D, right=True)]
    return parts + adam([array.shape for array in real.decoder.data(s)[0].values()], clip=True)


def minilm(s: Any) -> Parts:
    one = layer(s.B, s.L, s.D, s.H, s.hidden, "gelu", forward=True)
    return [gather(s.V, s.B * s.L, s.D), passes("layer_norm forward", (s.B * s.L, s.D)), *one * s.layers]


def fine_tuning(s: Any) -> Parts:
    N = s.B * s.L
    parts = [*embedding(s.V, N, s.D), passes("layer_norm", (N, s.D))]
    parts += layer(s.B, s.L, s.D, s.H, s.hidden, "gelu") * s.layers + affine(s.B, s.D, 2)
    return parts + adam([array.shape for array in real.transformers.minilm_data(s)[0].values()], clip=True)


def encoder_decoder(s: Any) -> Parts:
    N, shape = s.B * s.L, (s.B * s.L, s.D)
    parts = 2 * embedding(s.V, N, s.D)
    parts += layer(s.B, s.L, s.D, s.H, 4 * s.D, "relu") * s.layers
    parts += layer(s.B, s.L, s.D, s.H, 4 * s.D, "relu", causal=True) * s.layers
    cross = affine(N, s.D, s.D) + affine(N, s.D, 2 * s.D) + affine(N, s.D, s.D)
    cross += [attention(s.B * s.H, s.L, s.L, s.D // s.H)] + [passes("layer_norm", shape), passes("add", shape, 2)]
    parts += cross * s.layers + affine(N, s.D, s.V)[::2] + [product(N, s.V, s.D), passes("cross_entropy", (N, s.V))]
    return parts + adam([array.shape for array in real.transformers.translation_data(s)[0].values()])


def vit(s: Any) -> Parts:
    tokens = 1 + (s.image // s.patch) ** 2
    parts = affine(s.B * (tokens - 1), s.patch**2, s.D, first=True)
    parts += layer(s.B, tokens, s.D, s.H, 4 * s.D, "gelu") * s.layers
    parts += [passes("layer_norm", (s.B, s.D)), *affine(s.B, s.D, 10), passes("cross_entropy", (s.B, 10))]
    return parts + adam([array.shape for array in real.transformers.vit_data(s)[0].values()], clip=True)


def recurrent(blocks: int) -> Callable[[Any], Parts]:
    """An affine map of all tokens; for each token a product with the state, the gates, and their derivatives."""

    def floor(s: Any) -> Parts:
        N, wide = s.B * s.L, blocks * s.hidden
        parts = [product(N, s.D, wide), product(s.D, N, wide, left=True), product(s.hidden, N, wide, left=True)]
        parts += [product(s.B, s.hidden, wide, count=s.L), product(s.B, wide, s.hidden, right=True, count=s.L)]
        gates = [("sigmoid", blocks - 1), ("tanh", 1 + (blocks == 4)), ("add", blocks + 4 * (blocks > 1))]
        return parts + [passes(name, (s.B, s.hidden), count * s.L) for name, count in gates if count]

    return floor


def attention_by_hand(s: Any) -> Parts:
    N = s.B * s.L
    maps = [product(N, s.D, s.D, count=4), product(s.D, N, s.D, left=True, count=4), product(N, s.D, s.D, right=True)]
    return maps + [attention(s.B * s.H, s.L, s.L, s.D // s.H, causal=True)]


def gnn(s: Any) -> Parts:
    """What the vertices know at first has no gradient."""
    picked, added = gather(s.vertices, s.edges, s.D), scatter(s.vertices, s.edges, s.D)
    after = [passes("relu", (s.vertices, s.D)), passes("add", (s.vertices, s.D), 4)]
    parts = [picked, added, *2 * affine(s.vertices, s.D, s.D, first=True), *after]
    parts += [picked, added, *2 * affine(s.vertices, s.D, s.D), *after, picked, added] * (s.layers - 1)
    parts += [*affine(s.vertices, s.D, s.C), passes("cross_entropy", (s.vertices, s.C))]
    return parts + adam([array.shape for array in real.scattered.graph(s).weights.values()])


def large_embedding(s: Any) -> Parts:
    parts = [*embedding(s.V, s.B * s.L, s.D), passes("add", (s.B * s.L, s.D), 2), *affine(s.B, s.D, s.C)]
    return parts + adam([array.shape for array in real.scattered.texts(s)[0].values()])


def perceptron(widths: list[int], rows: int) -> Parts:
    """Affine maps with ReLU between them, without the loss."""
    parts: Parts = []
    for n, (into, out) in enumerate(pairwise(widths)):
        parts += affine(rows, into, out, first=n == 0)
        if n < len(widths) - 2:
            parts.append(passes("relu", (rows, out)))
    return parts


def mlp(s: Any) -> Parts:
    parts = [*perceptron([s.D, s.hidden, s.second, s.C], s.B), passes("cross_entropy", (s.B, s.C))]
    return parts + adam([array.shape for array in real.formulas.mlp_data(s)[0].values()])


def vae(s: Any) -> Parts:
    parts = perceptron([s.D, s.hidden, s.code], s.B) + affine(s.B, s.hidden, s.code)
    parts += affine(s.B, s.code, s.hidden) + [passes("relu", (s.B, s.hidden))] + affine(s.B, s.hidden, s.D)
    parts += [passes("sigmoid", (s.B, s.D)), passes("softmax", (s.B, s.D))]
    return parts + adam([array.shape for array in real.vae.data(s)[0].values()])


def lenet(s: Any) -> Parts:
    """A convolution is a product with the windows of the images, which are copied once forward and added up backward."""
    parts: Parts = []
    channels, side = 1, s.side
    for number, (out, taps) in enumerate(((s.first, 25), (s.second, 25))):
        side -= 4 * number  # the first pads
        pixels = s.B * side**2
        parts += [passes("add", (channels * taps, pixels)), product(out, channels * taps, pixels)]
        parts += [product(out, pixels, channels * taps, right=True), passes("bias", (out, pixels))]
        if number:
            parts += [product(channels * taps, out, pixels, left=True), passes("add", (channels * taps, pixels))]
        parts += [passes("relu", (out, pixels)), passes("relu", (out, pixels), 2)]  # the pool compares four numbers
        channels, side = out, side // 2
    widths = [channels * side**2, 120, 84, 10]
    parts += perceptron(widths, s.B) + affine(s.B, widths[0], 120)[-1:] + [passes("cross_entropy", (s.B, 10))]
    kernels = [(s.first, 25), (s.second, s.first * 25)]
    return parts + adam([*kernels, *((a + 1, b) for a, b in pairwise(widths))])


FLOORS: dict[str, Callable[[Any], Parts]] = {
    "gpt": gpt,
    "decoder": decoder,
    "vit": vit,
    "lenet": lenet,
    "minilm": minilm,
    "fine_tuning": fine_tuning,
    "encoder": classifier,
    "encoder_decoder": encoder_decoder,
    "gru": recurrent(3),
    "lstm": recurrent(4),
    "loop": recurrent(1),
    "lstm_by_hand": recurrent(4),
    "attention_by_hand": attention_by_hand,
    "gnn": gnn,
    "embedding": large_embedding,
    "plain_tiny": classifier,
    "plain_toy": classifier,
    "plain_small": classifier,
    "mlp": mlp,
    "vae": vae,
    "formula": lambda s: [vector("formula", s.n)],
    "tiny": classifier,
    "toy": classifier,
    "small": classifier,
}


def parts_of(work: str) -> Parts:
    """The parts of a step of ``"gpt:B=1"``.

    Raises:
        KeyError: the work has no floor.
    """
    floor = FLOORS[work.partition(":")[0]]
    return floor(real.check(work) if real.is_real(work) else sizes(work))
