"""The small worked cases of the articles, each a function: what to compute in the head, and see printed.

    python examples/article_cases.py

What an article prints stands beside what comes out here.

Written to `out/`: article_cases.png (the masked weights, the causal softmax, layer norm with epsilon outside and inside).
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn", "models")

import numpy as np

import nn
from common import argument_parser, make_folder, pyplot, run, save_figure
from minigrad.device import to_device
from models import Bigram, SkipGram, SkipGramConfig

Array = np.ndarray[Any, Any]

# Two texts, padded to three tokens: one token and two. Queries and keys of width 4, chosen so that the scores are 0 and 1.
MASK = np.array([[1, 0, 0], [1, 1, 0]])  # (text, token)
KEYS = np.array([[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]], float)
QUERIES = np.array([[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]], float)

CAUSAL_SCORES = np.array([[1.1, 0, 0, 0], [1.4, 0.7, 0, 0], [-2.1, 1.0, 0.8, 0], [0.9, 2.9, 3.3, 1.4]])
NEARLY_CONSTANT = np.array([3 + 1e-6, 3 - 1e-6, 3, 3])

# What the articles print
PRINTED_MASKED: list[list[list[float]]] = [
    [[1, 0, 0], [1, 0, 0], [1, 0, 0]],
    [[0.37754066879814546, 0.6224593312018546, 0], [0.6224593312018546, 0.37754066879814546, 0], [0.5, 0.5, 0]],
]
PRINTED_CAUSAL: list[list[float]] = [
    [1, 0, 0, 0], [0.66819, 0.33181, 0, 0], [0.02417, 0.53654, 0.43929, 0], [0.04748, 0.35084, 0.52339, 0.07828]
]  # fmt: skip
PRINTED_NORMS = (0.58579, 0.001)  # the first of the four numbers, epsilon outside and inside the root


def tiled_mask(mask: Array) -> Array:
    """(text, key) -> (text, query, key): every query of a text sees the same tokens."""
    return np.repeat(mask[:, None, :], mask.shape[1], axis=1).astype(bool)


def masked_weights(device: str = "cpu") -> Array:
    """``softmax(q k^T / sqrt(4))`` where the mask is 1, (text, query, key)."""
    attention = nn.DotProductAttention(scale=True)
    q, k, mask = (to_device(array, device) for array in (QUERIES, KEYS, tiled_mask(MASK)))
    return attention.attention_weights(q, k, mask=mask).numpy()


def masked_weights_as_a_function() -> Array:
    """The same: what attention makes of the unit vectors as values are its weights."""
    unit = np.broadcast_to(np.eye(3), (2, 3, 3))
    return np.array(nn.functional.scaled_dot_product_attention(QUERIES, KEYS, unit, key_mask=MASK))


def causal_weights(scores: Array = CAUSAL_SCORES, device: str = "cpu") -> Array:
    """The softmax of each row over what is not in its future. (scores I^T is a way to have these scores.)"""
    scores, identity = to_device(scores, device)[None], to_device(np.eye(len(scores)), device)[None]
    mask = nn.causal_mask(scores.shape[1])
    return nn.DotProductAttention().attention_weights(scores, identity, mask=mask).numpy()[0]


def one_hot_products(matrix: Array, i: int) -> tuple[Array, Array]:
    """Row i of ``matrix`` by our convention, ``onehot W``, and column i by the articles', ``W onehot``."""
    return np.eye(matrix.shape[0])[i] @ matrix, matrix @ np.eye(matrix.shape[1])[:, i]


def embedded_row(matrix: Array, i: int) -> Array:
    """The same row i, looked up: what an embedding does."""
    embedding = nn.Embedding(*matrix.shape, rng=np.random.default_rng(0), dtype=np.float64)
    embedding.weight.data = matrix
    return embedding(np.array(i)).numpy()


def scores_as_one_product(seed: int = 0) -> tuple[Array, Array]:
    """The scores of a head without bias, ``q k^T``, and the same as one product, ``x W_Q W_K^T x^T``."""
    rng = np.random.default_rng(seed)
    head = nn.AttentionHead(8, 4, bias=False, rng=rng, dtype=np.float64)
    x = rng.standard_normal((5, 8))
    between = head.query.weight.data @ head.key.weight.data.T  # (8, 8), of rank 4
    return head.query(x).numpy() @ head.key(x).numpy().T, x @ between @ x.T


def dice() -> tuple[float, float]:
    """Mean and variance of a die."""
    faces = np.arange(1, 7)
    return float(faces.mean()), float(faces.var())


def layer_norms(x: Array = NEARLY_CONSTANT) -> tuple[Array, Array]:
    """``(x - mean) / (std + eps)``, the article's, and ``(x - mean) / sqrt(var + eps)``, with eps 1e-6."""
    outside, inside = (nn.LayerNorm(len(x), eps=1e-6, eps_outside=where, dtype=np.float64) for where in (True, False))
    return outside(x).numpy(), inside(x).numpy()


def rms_norm(x: Array = NEARLY_CONSTANT) -> Array:
    """``x / sqrt(mean(x^2) + eps)`` leaves the mean in, and so has no small number to divide by."""
    return nn.RMSNorm(len(x), eps=1e-6, dtype=np.float64)(x).numpy()


def uniform_words() -> tuple[float, float]:
    """Of five different words, each as likely as the others: log P of the bigram model, L(theta) of skip-gram with window 1."""
    config = SkipGramConfig(vocab_size=5, window=1)
    ids, rng = np.arange(5), np.random.default_rng(0)
    bigram, skip_gram = Bigram(config, rng=rng, dtype=np.float64), SkipGram(config, rng=rng, dtype=np.float64)
    return bigram.log_probability(ids).item(), skip_gram.loss(ids).item()  # untrained models are uniform


def base_encoder_layer() -> tuple[int, int]:
    """The parameters of an encoder layer of the base model (512, 2048), and of its feed-forward network."""
    rng = np.random.default_rng(0)
    layer, feed_forward = (
        nn.TransformerEncoderLayer(512, 8, 2048, norm="post", rng=rng),
        nn.FeedForward(512, 2048, rng=rng),
    )
    return layer.num_parameters, feed_forward.num_parameters


def report(arguments: argparse.Namespace) -> None:
    """Print every case, and what the articles have."""
    print("q k^T:", *(QUERIES @ np.swapaxes(KEYS, 1, 2)).tolist(), sep="\n  ")
    masked = masked_weights(arguments.device)
    print("weights of the tokens that the mask leaves:", *masked.tolist(), sep="\n  ")
    print(f"  the article's differ by {np.abs(masked - PRINTED_MASKED).max():.0e} at most")
    print(f"  those of the function by {np.abs(masked - masked_weights_as_a_function()).max():.0e}")
    print("causal softmax, and the article's (which prints the score 0.7 as -0.7):")
    for ours, theirs in zip(causal_weights(device=arguments.device), PRINTED_CAUSAL):
        print("  " + " ".join(f"{w:7.5f}" for w in ours) + "   " + " ".join(f"{w:7.5f}" for w in theirs))
    rng = np.random.default_rng(arguments.seed)
    matrix = rng.integers(0, 9, (3, 3)).astype(float)
    print("one-hot times matrix, ours and the articles':", *one_hot_products(matrix, 1))
    print("  ours looked up:", embedded_row(matrix, 1))
    scores, product = scores_as_one_product(arguments.seed)
    print(f"q k^T and x W_Q W_K^T x^T, largest difference: {np.abs(scores - product).max():.0e}")
    print("dice, mean and variance: {!r}, {!r} (the article's: 3.5, 2.9166666666666665)".format(*dice()))
    print("layer norm of [3 + 1e-6, 3 - 1e-6, 3, 3], epsilon 1e-6:")
    for name, normed, printed in zip(("outside the root", "inside the root"), layer_norms(), PRINTED_NORMS):
        print(f"  {name:16} {normed.round(5)} (the article's: {printed})")
    print(f"  {'without the mean':16} {rms_norm().round(5)} (RMS norm)")
    print("five words, uniform model: bigram log P = {!r}, skip-gram L = {!r}".format(*uniform_words()))
    print("  by hand: -4 log 5 = {!r} and 8/5 log 5 = {!r}".format(*(n * math.log(5) for n in (-4, 8 / 5))))
    print("base encoder layer: {:,} parameters, {:,} of them feed-forward".format(*base_encoder_layer()))
    print("  the article counts 3,152,384 and 2,099,712")


def draw_weights(ax: Any, weights: Array, title: str) -> None:
    """A heat map with its numbers."""
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    for (row, column), weight in np.ndenumerate(weights):
        colour = "white" if weight > 0.6 else "black" if weight else "0.7"
        ax.text(column, row, f"{weight:.2f}" if weight else "0", ha="center", va="center", color=colour)
    ax.set(title=title, xlabel="key", ylabel="query", xticks=range(len(weights)), yticks=range(len(weights)))


def draw(path: Path, device: str = "cpu") -> None:
    """The weights of the masked texts and of the causal rows, and the layer norms on one scale."""
    figure, axes = pyplot().subplots(1, 4, figsize=(15, 4), layout="constrained")
    for ax, weights, title in zip(axes, masked_weights(device), ("text 1: one token of 3", "text 2: two tokens of 3")):
        draw_weights(ax, weights, title)
    draw_weights(axes[2], causal_weights(device=device), "causal softmax")
    outside, inside = layer_norms()
    places = np.arange(len(outside))
    for name, normed, side in (("outside", outside, -0.2), ("inside", inside, 0.2)):
        bars = axes[3].bar(places + side, normed, 0.4, label=f"epsilon {name} the root")
        axes[3].bar_label(bars, [f"{value:g}" for value in normed.round(3) + 0.0], fontsize=7, padding=2)
    axes[3].axhline(0, color="0.5", linewidth=0.8)
    axes[3].set_xticks(places, ["3 + 1e-6", "3 − 1e-6", "3", "3"])
    axes[3].set(title="layer norm, epsilon = 1e-6", xlabel="x")
    axes[3].legend(frameon=False)
    save_figure(figure, path)


def main() -> None:
    arguments = argument_parser(__doc__, quick="the same, as it takes no time").parse_args()
    path = make_folder(arguments.out) / "article_cases.png"
    report(arguments)
    draw(path, arguments.device)
    print(f"\nthe weights and the norms: {path}")


if __name__ == "__main__":
    run(main)
