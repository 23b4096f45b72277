"""Every kind of attention in nn on one small sentence: who looks where, by which rule.

    python examples/attention_gallery.py

こたつ で みかん を 食べる looks at itself, or "I eat mandarin at the kotatsu" looks at it. Nothing here is trained, and
what has weights of its own has random ones: the pictures show what each rule allows and prefers, not what language is like.
One thing is given: a word and its translation start from the same random vector, so rules without weights find translations,
and the others would have to learn to. To each vector the code of its position is added.

Each line has the shape of the result, the mean entropy of the weights with that of uniform weights over the same keys beside
it (the baseline: attention that does not care), and the link that stands out most from the uniform weights.

Written to `out/`: attention_gallery.png, a panel for the weights of every head.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import numpy as np
from numpy.typing import NDArray

import nn
from common import argument_parser, make_folder, progress, run
from minigrad import no_grad
from minigrad.device import to_device
from minigrad.graph.pages.attention_maps import Map, draw_maps

Array = NDArray[np.float64]

JAPANESE = ("こたつ", "で", "みかん", "を", "食べる")
ENGLISH = ("I", "eat", "mandarin", "at", "the", "kotatsu")
TRANSLATION = {"こたつ": "kotatsu", "で": "at", "みかん": "mandarin", "食べる": "eat"}
WIDTH = 16
LENGTH = len(JAPANESE)
ACROSS = 6  # panels in a row of the picture


@dataclass(frozen=True)
class Kind:
    """One attention, and what it is called with."""

    name: str
    layer: Any
    inputs: Sequence[Any]
    options: dict[str, Any] = field(default_factory=dict)
    queries: Sequence[str] = JAPANESE
    keys: Sequence[str] = JAPANESE


@dataclass(frozen=True)
class Seen:
    """What came out: the shape of the result, and the weights (heads, query, key)."""

    kind: Kind
    shape: tuple[int, ...]
    weights: Array


def embedded(words: Sequence[str], seed: int) -> Array:
    """(1, length, WIDTH): for each word a random vector of its own, which it shares with its translation, and its position."""
    vectors = []
    for word in words:
        number = zlib.crc32(TRANSLATION.get(word, word).encode())  # the same in every run, which hash() is not
        vectors.append(np.random.default_rng([seed, number]).standard_normal(WIDTH))
    return (np.array(vectors) + 0.5 * nn.sinusoids(len(words), WIDTH))[None]


def without_weights(ja: Any, en: Any) -> list[Kind]:
    """The rules that have nothing to learn."""
    cross: dict[str, Any] = {"inputs": (en, ja), "queries": ENGLISH}
    turned = nn.RotaryPositions(WIDTH)(ja)
    before = nn.causal_mask(LENGTH) & ~np.eye(LENGTH, dtype=bool)  # the first token sees nothing: a row of zeros
    neighbours = nn.window_mask(LENGTH, 1)
    return [
        Kind("dot product", nn.DotProductAttention(), **cross),
        Kind("scaled dot product", nn.DotProductAttention(scale=True), **cross),
        Kind("cosine", nn.GlobalAttention(nn.CosineScore()), **cross),
        Kind("rotary positions", nn.DotProductAttention(scale=True), (turned, turned, ja)),
        Kind("padding mask", nn.DotProductAttention(scale=True), (ja,), {"key_mask": nn.padding_mask([3], LENGTH)}),
        Kind("causal mask", nn.DotProductAttention(scale=True), (ja,), {"mask": nn.causal_mask(LENGTH)}),
        Kind("only what is before", nn.DotProductAttention(scale=True), (ja,), {"mask": before}),
        Kind("local, radius 1", nn.LocalAttention(1, nn.DotScore(scale=True)), (ja,)),
        Kind("simplified", nn.SimplifiedAttention(), (ja,)),
        Kind("graph of neighbours", nn.MessagePassing(), (ja, neighbours / neighbours.sum(1, keepdims=True))),
    ]


def with_one_head(ja: Any, en: Any, rng: np.random.Generator) -> list[Kind]:
    """The rules with weights of their own, here random."""
    cross: dict[str, Any] = {"inputs": (en, ja), "queries": ENGLISH}
    new: dict[str, Any] = {"rng": rng, "dtype": np.float64}
    biased = nn.GeneralScore(WIDTH, WIDTH, bias=True, **new)
    half = WIDTH // 2
    return [
        Kind("additive", nn.AdditiveAttention(WIDTH, WIDTH, **new), **cross),
        Kind("multiplicative", nn.MultiplicativeAttention(WIDTH, WIDTH, **new), **cross),
        Kind("general with a bias", nn.GlobalAttention(biased), **cross),
        Kind("local, predicted", nn.PredictiveLocalAttention(WIDTH, 2, score=nn.DotScore(scale=True), **new), **cross),
        Kind("one query", nn.Attention(WIDTH, WIDTH, half, **new), (en[:, 1], ja), queries=ENGLISH[1:2]),
        Kind("self", nn.SelfAttention(WIDTH, **new), (ja,)),
        Kind("key-value", nn.KeyValueAttention(half, half, score=nn.AdditiveScore(half, half, **new), **new), (ja,)),
        Kind("context", nn.ContextAttention(WIDTH, **new), (ja,), queries=("u",)),
        Kind("a head", nn.AttentionHead(WIDTH, half, **new), (ja,)),
        Kind("a causal head", nn.AttentionHead(WIDTH, half, **new), (ja,), {"causal": True}),
    ]


def with_more_heads(ja: Any, en: Any, rng: np.random.Generator) -> list[Kind]:
    """Multi-head attention and its forms."""
    new: dict[str, Any] = {"rng": rng, "dtype": np.float64}
    return [
        Kind("two heads", nn.MultiHeadAttention(WIDTH, 2, **new), (ja,)),
        Kind("packed, causal", nn.PackedMultiHeadAttention(WIDTH, 2, **new), (ja,), {"causal": True}),
        Kind("3 uneven heads", nn.MultiHeadAttention(WIDTH, 3, key_dim=WIDTH // 3, **new), (ja,)),
        Kind("full-width heads", nn.MultiHeadAttention(WIDTH, 2, key_dim=WIDTH, **new), (ja,)),
        Kind("grouped, rotary", nn.MultiHeadAttention(WIDTH, 2, num_kv_heads=1, rotary=True, **new), (ja,)),
        Kind("cross heads", nn.MultiHeadAttention(WIDTH, 2, context_dim=WIDTH, **new), (en, ja), queries=ENGLISH),
    ]


def kinds(seed: int, device: str = "cpu") -> list[Kind]:
    """All of them, in order."""
    rng = np.random.default_rng(seed)
    ja, en = (to_device(embedded(words, seed), device) for words in (JAPANESE, ENGLISH))
    return without_weights(ja, en) + with_one_head(ja, en, rng) + with_more_heads(ja, en, rng)


def look(kind: Kind, device: str = "cpu") -> Seen:
    """Call it, and ask for its weights."""
    layer = kind.layer.to(device)
    with no_grad():
        result = layer(*kind.inputs, **kind.options)
        weights = layer.attention_weights(*kind.inputs, **kind.options).numpy()
    return Seen(kind, result.shape, weights.reshape(-1, len(kind.queries), len(kind.keys)))


def entropies(weights: Array) -> tuple[float, float]:
    """Nats, the mean over the rows: of the weights (as shares of their sum), and of uniform ones over the same keys."""
    rows = weights.reshape(-1, weights.shape[-1])
    rows = rows[rows.any(axis=-1)]  # a query that may look nowhere has no entropy
    shares = rows / rows.sum(axis=-1, keepdims=True)
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(-(shares * logarithms).sum(-1).mean()), float(np.log((rows > 0).sum(-1)).mean())


def strongest_link(seen: Seen) -> tuple[str, float, float]:
    """The link farthest above the uniform weight of its row: its two words, its weight, and that uniform weight."""
    uniform = 1 / np.maximum((seen.weights > 0).sum(axis=-1, keepdims=True), 1)
    above = seen.weights - uniform
    head, query, key = (int(i) for i in np.unravel_index(np.argmax(above), above.shape))
    link = f"{seen.kind.queries[query]} → {seen.kind.keys[key]}"
    return link, float(seen.weights[head, query, key]), float(uniform[head, query, 0])


def report(seen: Sequence[Seen]) -> None:
    """Print a line for each."""
    print(f"{'':20}  {'class':24}  {'result':11}  entropy  uniform  weight  uniform  strongest link")
    for one in seen:
        entropy, uniform = entropies(one.weights)
        link, weight, even = strongest_link(one)
        name, shape = type(one.kind.layer).__name__, str(one.shape)
        numbers = f"{entropy:7.3f}  {uniform:7.3f}  {weight:6.3f}  {even:7.3f}"
        print(f"{one.kind.name:20}  {name:24}  {shape:11}  {numbers}  {link}")


def draw(seen: Sequence[Seen], path: Path) -> None:
    """A panel for each head; the heads of one layer stay together in a row."""
    rows: list[list[Map]] = [[]]
    for one in seen:
        heads = len(one.weights)
        titles = [f"{one.kind.name} {head}/{heads}" if heads > 1 else one.kind.name for head in range(1, heads + 1)]
        panels = [Map(title, one.kind.queries, one.kind.keys, each) for title, each in zip(titles, one.weights)]
        if len(rows[-1]) + heads > ACROSS:
            rows.append([])
        rows[-1] += panels
    draw_maps(rows, path, cell=0.26, caption="untrained: what each rule allows and prefers")


def main() -> None:
    arguments = argument_parser(__doc__, quick="the same, as it takes seconds anyway").parse_args()
    out = make_folder(arguments.out)
    seen = [look(kind, arguments.device) for kind in progress(kinds(arguments.seed, arguments.device), "attentions")]
    report(seen)
    path = out / "attention_gallery.png"
    draw(seen, path)
    print(f"\nthe weights, untrained: {path}")


if __name__ == "__main__":
    run(main)
