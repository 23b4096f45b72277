"""The small worked cases of the articles, each a function: what to compute in the head, and see printed.

    python examples/article_cases.py

"Computed" is what comes out here of the articles' inputs and formulas. "Printed" is what stands in an article, with the digits
that it gives; where no such number stands beside ours, the article prints none, or we do not know it.

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

# The Flax article's own numbers: two texts padded to three tokens, queries and keys of width 4, and a 1/0 mask of the tokens.
MASK = np.array([[1, 0, 0], [1, 1, 0]])  # (text, token)
QUERIES = np.array([[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]], float)
KEYS = np.array([[[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]], [[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]], float)
PRINTED_SCORES = [[[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[0, 1, 0], [1, 0, 0], [0, 0, 1]]]  # q k^T
PRINTED_TILED_MASK = [[[1, 0, 0]] * 3, [[1, 1, 0]] * 3]

CAUSAL_SCORES = np.array([[1.1, 0, 0, 0], [1.4, 0.7, 0, 0], [-2.1, 1.0, 0.8, 0], [0.9, 2.9, 3.3, 1.4]])
NEARLY_CONSTANT = np.array([3 + 1e-6, 3 - 1e-6, 3, 3])

# The matrices A and B of the mathematics article; A^T B holds the inner products of their columns.
COLUMNS_A, COLUMNS_B = np.array([[1, 3], [2, 4]]), np.array([[10, 30], [20, 40]])

PRINTED_CAUSAL_ROW = ("0.67", "0.33")  # the second row, in the article's digits


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


def inner_products() -> Array:
    """``A^T B``: entry (i, j) is the inner product of column i of A and column j of B, so the result has two axes."""
    return COLUMNS_A.T @ COLUMNS_B


def scores_by_divisor(d_k: int = 4) -> tuple[Array, Array]:
    """The second text's weights, the scores divided by ``sqrt(d_k)`` as in the paper, and by ``d_k``."""
    scores, mask = QUERIES[1] @ KEYS[1].T, tiled_mask(MASK)[1]
    by_root, by_width = (
        np.asarray(nn.functional.softmax(np.where(mask, scores / by, -np.inf))) for by in (d_k**0.5, d_k)
    )
    return by_root, by_width


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


def base_encoder_by_hand() -> int:
    """Four maps of attention, two of the feed-forward network, two norms; every map with its bias."""
    attention, feed_forward, norms = 4 * (512 * 512 + 512), 512 * 2048 + 2048 + 2048 * 512 + 512, 2 * 2 * 512
    return attention + feed_forward + norms


def report(arguments: argparse.Namespace) -> None:
    """Print every case, computed; what an article prints is called so."""
    scores = (QUERIES @ np.swapaxes(KEYS, 1, 2)).astype(int).tolist()
    print("the Flax article's q k^T, computed:", *scores, sep="\n  ")
    print("  as printed:", scores == PRINTED_SCORES)
    tiled = tiled_mask(MASK).astype(int).tolist()
    print("its mask, tiled over the queries:", *tiled, sep="\n  ")
    print("  as printed:", tiled == PRINTED_TILED_MASK)
    masked = masked_weights(arguments.device)
    print("weights of the tokens that the mask leaves, computed:", *masked.tolist(), sep="\n  ")
    print(f"  those of the function differ by {np.abs(masked - masked_weights_as_a_function()).max():.0e}")
    by_root, by_width = scores_by_divisor()
    print(f"  divided by sqrt(d_k) = 2, the first row is {by_root[0].round(5)}; by d_k = 4, {by_width[0].round(5)}")
    print("causal softmax, computed:")
    for i, row in enumerate(causal_weights(device=arguments.device)):
        printed = f"   (printed: {', '.join(PRINTED_CAUSAL_ROW)}, beside the score 0.7 as -0.7)" if i == 1 else ""
        print("  " + " ".join(f"{w:7.5f}" for w in row) + printed)
    rng = np.random.default_rng(arguments.seed)
    matrix = rng.integers(0, 9, (3, 3)).astype(float)
    print("one-hot times matrix, ours and the articles':", *one_hot_products(matrix, 1))
    print("  ours looked up:", embedded_row(matrix, 1))
    print("A^T B, whose entries are inner products of columns:", *inner_products().tolist())
    scores, product = scores_as_one_product(arguments.seed)
    print(f"q k^T and x W_Q W_K^T x^T, largest difference: {np.abs(scores - product).max():.0e}")
    print("dice, mean and variance: {!r}, {!r}".format(*dice()))
    print("layer norm of [3 + 1e-6, 3 - 1e-6, 3, 3], epsilon 1e-6:")
    for name, normed in zip(("outside the root", "inside the root"), layer_norms()):
        print(f"  {name:16} {normed.round(5)}")
    print(f"  {'without the mean':16} {rms_norm().round(5)} (RMS norm)")
    print("five words, uniform model: bigram log P = {!r}, skip-gram L = {!r}".format(*uniform_words()))
    print("  by hand: -4 log 5 = {!r} and 8/5 log 5 = {!r}".format(*(n * math.log(5) for n in (-4, 8 / 5))))
    print("base encoder layer: {:,} parameters, {:,} of them feed-forward".format(*base_encoder_layer()))
    print(f"  by hand: 4 (512^2 + 512) + {2 * 512 * 2048 + 2048 + 512:,} + 2 * 2 * 512 = {base_encoder_by_hand():,}")


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
