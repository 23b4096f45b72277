"""The small worked cases of the articles, each a function: what to compute in the head, and see printed.

python examples/article_cases.py
"""

from __future__ import annotations

from typing import Any

if __name__ == "__main__":
    from common import one_blas_thread

    one_blas_thread()

import numpy as np

import nn
from common import argument_parser, run
from minigrad.device import to_device
from models import Bigram, SkipGram, SkipGramConfig

Array = np.ndarray[Any, Any]

# Two texts, padded to three tokens: one token and two. Queries and keys of width 4, chosen so that the scores are 0 and 1.
MASK = np.array([[1, 0, 0], [1, 1, 0]])  # (text, token)
KEYS = np.array([[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]], float)
QUERIES = np.array([[[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]], float)

CAUSAL_SCORES = np.array([[1.1, 0, 0, 0], [1.4, 0.7, 0, 0], [-2.1, 1.0, 0.8, 0], [0.9, 2.9, 3.3, 1.4]])
NEARLY_CONSTANT = np.array([3 + 1e-6, 3 - 1e-6, 3, 3])


def tiled_mask(mask: Array) -> Array:
    """(text, key) -> (text, query, key): every query of a text sees the same tokens."""
    return np.repeat(mask[:, None, :], mask.shape[1], axis=1).astype(bool)


def masked_weights(device: str = "cpu") -> Array:
    """``softmax(q k^T / sqrt(4))`` where the mask is 1, (text, query, key)."""
    attention = nn.DotProductAttention(scale=True)
    q, k, mask = (to_device(array, device) for array in (QUERIES, KEYS, tiled_mask(MASK)))
    return attention.attention_weights(q, k, mask=mask).numpy()


def causal_weights(scores: Array = CAUSAL_SCORES, device: str = "cpu") -> Array:
    """The softmax of each row over what is not in its future. (scores I^T is a way to have these scores.)"""
    scores, identity = to_device(scores, device)[None], to_device(np.eye(len(scores)), device)[None]
    return nn.DotProductAttention().attention_weights(scores, identity, causal=True).numpy()[0]


def one_hot_products(matrix: Array, i: int) -> tuple[Array, Array]:
    """Row i of ``matrix`` by our convention, ``onehot W``, and column i by the articles', ``W onehot``."""
    return np.eye(matrix.shape[0])[i] @ matrix, matrix @ np.eye(matrix.shape[1])[:, i]


def dice() -> tuple[float, float]:
    """Mean and variance of a die."""
    faces = np.arange(1, 7)
    return float(faces.mean()), float(faces.var())


def layer_norms(x: Array = NEARLY_CONSTANT) -> tuple[Array, Array]:
    """``(x - mean) / (std + eps)``, the article's, and ``(x - mean) / sqrt(var + eps)``, with eps 1e-6."""
    outside, inside = (nn.LayerNorm(len(x), eps=1e-6, eps_outside=where, dtype=np.float64) for where in (True, False))
    return outside(x).numpy(), inside(x).numpy()


def uniform_words() -> tuple[float, float]:
    """Of five different words, each as likely as the others: log P of the bigram model, L(theta) of skip-gram with window 1."""
    config = SkipGramConfig(vocab_size=5, window=1)
    ids, rng = np.arange(5), np.random.default_rng(0)
    bigram, skip_gram = Bigram(config, rng=rng, dtype=np.float64), SkipGram(config, rng=rng, dtype=np.float64)
    return bigram.log_probability(ids).item(), skip_gram.loss(ids).item()  # untrained models are uniform


def base_encoder_layer() -> tuple[int, int]:
    """The parameters of an encoder layer of the base model (512, 2048), and of its feed-forward network."""
    layer = nn.TransformerEncoderLayer(512, 8, 2048, norm="post", rng=np.random.default_rng(0))
    return layer.num_parameters, layer.feed_forward.num_parameters


def main() -> None:
    arguments = argument_parser(__doc__, quick="the same, as it takes no time", out=None).parse_args()
    print("q k^T:", *(QUERIES @ np.swapaxes(KEYS, 1, 2)).tolist(), sep="\n  ")
    print("weights of the tokens that the mask leaves:", *masked_weights(arguments.device).tolist(), sep="\n  ")
    print("causal softmax (one article prints the score 0.7 as -0.7):")
    print(causal_weights(device=arguments.device).round(5))
    rng = np.random.default_rng(arguments.seed)
    print("one-hot times matrix, ours and the articles':", *one_hot_products(rng.integers(0, 9, (3, 3)), 1))
    print("dice, mean and variance:", *dice())
    print("layer norm of [3 + 1e-6, 3 - 1e-6, 3, 3], epsilon 1e-6:")
    for name, normed in zip(("outside the root", "inside the root"), layer_norms()):
        print(f"  {name:16} {normed.round(5)}")
    print("five words, uniform model: bigram log P = {!r}, skip-gram L = {!r}".format(*uniform_words()))
    print("base encoder layer: {:,} parameters, {:,} of them feed-forward".format(*base_encoder_layer()))


if __name__ == "__main__":
    run(main)
