"""SkipGram and Bigram: a word tells its neighbours, or the next word, through one vector each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import to_host

from ._config import Config

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SkipGramConfig(Config):
    """The sizes of a :class:`SkipGram` or :class:`Bigram`.

    Attributes:
        vocab_size: word ids are 0 to vocab_size - 1.
        d_model: the width of a word's vector.
        window: m, how far a neighbour may be away; a :class:`Bigram` does not look at it.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.SkipGramConfig(vocab_size=100, d_model=8)
        >>> models.SkipGram(config, rng=np.random.default_rng(0)).num_parameters  # two vectors a word
        1600
    """

    vocab_size: int
    d_model: int = 32
    window: int = 2


class WordPairs(nn.Module):
    """``p(o | c) = softmax(v_c U)_o``: what SkipGram and Bigram have in common.

    Each word has two vectors: v, a row of ``vectors.weight``, when it is given, and u, a column of ``output.weight``, when it
    is to be predicted. U starts at zero, so an untrained model takes every word for equally likely.
    """

    def __init__(self, config: SkipGramConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config = config
        self.vectors = nn.Embedding(config.vocab_size, config.d_model, rng=rng, std=0.1, dtype=dtype)
        self.output = nn.Affine(config.d_model, config.vocab_size, rng=rng, bias=False, dtype=dtype)
        self.output.weight.data = np.zeros((config.d_model, config.vocab_size), dtype)

    def forward(self, ids: Any) -> Tensor:
        """Scores (logits) of all words: ids (...) -> (..., vocab_size). The softmax is over the whole vocabulary."""
        return self.output(self.vectors(ids))

    def pair_loss(self, given: Any, predicted: Any, reduction: str = "mean") -> Tensor:
        """``-log p(predicted | given)``, of two arrays of ids of the same shape."""
        return nn.cross_entropy(self.forward(given), predicted, reduction=reduction)


class SkipGram(WordPairs):
    """Word vectors that tell which words are near. Mikolov et al. 2013, arXiv:1301.3781, section 3.2::

        L(theta) = -1/T sum over t = 1..T and j = -m..m, j != 0, of log p(w_(t+j) | w_t)

    Pairs that reach past an end of the text are skipped, so the sum has fewer than 2 m T terms.

    Example:
        >>> import numpy as np
        >>> import models
        >>> model = models.SkipGram(models.SkipGramConfig(vocab_size=8, window=1), rng=np.random.default_rng(0))
        >>> model.vectors.weight.shape
        (8, 32)
        >>> round(model.loss([0, 1, 2, 3]).item(), 3)  # untrained: 6 pairs of log 8, over 4 words
        3.119
    """

    def loss(self, ids: Any) -> Tensor:
        """L(theta) of one text, ids (length,).

        Raises:
            ShapeError, DTypeError: ids are no sequence of integers.
            OutOfRangeError: there is no such word.
            ArgumentError: no word has a neighbour.
        """
        given, predicted = skip_gram_pairs(ids, self.config.window)
        return self.pair_loss(given, predicted, "sum") / len(ids)


class Bigram(WordPairs):
    """A language model that looks back one word: ``P(w_1 ... w_T) = product over t = 2..T of p(w_t | w_(t-1))``.

    The first word is given. The second-order word approximation of Shannon 1948, section 3.

    Example:
        >>> import numpy as np
        >>> import models
        >>> model = models.Bigram(models.SkipGramConfig(vocab_size=8), rng=np.random.default_rng(0))
        >>> model([0, 1, 2]).shape
        (3, 8)
        >>> round(float(np.exp(model.loss([0, 1, 2]).item())), 3)  # untrained, one word is as likely as another
        8.0
    """

    def log_probability(self, ids: Any) -> Tensor:
        """``log P`` of one text, ids (length,); what is raised is as for :meth:`SkipGram.loss`."""
        ids = _text(ids)
        return -self.pair_loss(ids[:-1], ids[1:], "sum")

    def loss(self, ids: Any) -> Tensor:
        """``-log P / (T - 1)``: nats a word, of which exp is the perplexity."""
        return -self.log_probability(ids) / (len(ids) - 1)


def skip_gram_pairs(ids: Any, window: int) -> tuple[Array, Array]:
    """All pairs of a word and one of its neighbours, as two arrays of ids, (pairs,) each.

    >>> skip_gram_pairs([7, 8, 9], 1)
    (array([7, 8, 8, 9]), array([8, 7, 9, 8]))

    Raises:
        ArgumentError: ``window`` is no positive integer, or there are no pairs.
    """
    ids = _text(ids)
    if not isinstance(window, (int, np.integer)) or window < 1:
        raise ArgumentError(f"window must be a positive integer, got {window!r}")
    offsets = np.concatenate([np.arange(-window, 0), np.arange(1, window + 1)])
    neighbours = np.arange(len(ids))[:, None] + offsets  # (length, 2 window)
    inside = (neighbours >= 0) & (neighbours < len(ids))
    return np.repeat(ids, inside.sum(axis=1)), ids[neighbours[inside]]


def _text(ids: Any) -> Array:
    ids = np.asarray(to_host(ids))  # the pairs are looked up on the host
    if ids.ndim != 1:
        raise ShapeError(f"ids must be one text, of shape (length,), got {ids.shape}")
    if ids.size and ids.dtype.kind not in "iu":
        raise DTypeError(f"ids must be integers, got dtype {ids.dtype}")
    if len(ids) < 2:
        raise ArgumentError(f"a text of {len(ids)} word(s) has no pairs of words")
    return ids
