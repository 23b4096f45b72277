"""SkipGram and Bigram: models that predict a word's neighbours, or the next word, from the word's vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import TensorLike, to_host
from nn._checks import as_given, check_positive, id_array, plain

from ._config import Config, check_fields
from ._model import Model, check_model

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SkipGramConfig(Config):
    """The sizes of a :class:`SkipGram` or :class:`Bigram`.

    Attributes:
        vocab_size: the number of word ids, which are 0 to vocab_size - 1.
        d_model: the width of a word's vector.
        window: m, the greatest distance between a word and its neighbour; :class:`Bigram` ignores it.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.SkipGramConfig(vocab_size=100, d_model=8)
        >>> models.SkipGram(config, rng=np.random.default_rng(0)).num_parameters  # two vectors per word
        1600
    """

    vocab_size: int
    d_model: int = 32
    window: int = 2

    def __post_init__(self) -> None:
        check_fields(self)


class WordPairs(Model):
    """The base class of SkipGram and Bigram: ``p(o | c) = softmax(v_c U)_o`` for an input word c and a predicted word o.

    Each word has two vectors: as an input word the vector v, a row of ``vectors.weight``, and as a predicted word the vector
    u, a column of ``output.weight``. U starts at zero, so all words are equally likely in an untrained model.
    """

    config_class = SkipGramConfig

    def __init__(self, config: SkipGramConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        self.vectors = nn.Embedding(config.vocab_size, config.d_model, rng=rng, std=0.1, dtype=dtype)
        self.output = nn.Affine(config.d_model, config.vocab_size, rng=rng, bias=False, dtype=dtype)
        self.output.weight.data = np.zeros((config.d_model, config.vocab_size), dtype)

    def forward(self, ids: TensorLike) -> Tensor:
        """Return the logits of all words: ids (...) -> (..., vocab_size). Their softmax is over the whole vocabulary."""
        return self.output(self.vectors(ids))

    def pair_loss(self, given: TensorLike, predicted: TensorLike, reduction: str = "mean") -> Tensor:
        """Return ``-log p(predicted | given)`` for two arrays of ids of the same shape."""
        given, predicted = id_array(given, "given"), as_given(predicted, "predicted")
        return nn.cross_entropy(self.forward(given), predicted, reduction=reduction)


class SkipGram(WordPairs):
    """A model of word vectors that predicts nearby words. Mikolov et al. 2013, arXiv:1301.3781, section 3.2::

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
        """Return L(theta) of one text, ids (length,).

        Raises:
            ShapeError, DTypeError: ids is not a sequence of integers.
            OutOfRangeError: an id is not in the vocabulary.
            ArgumentError: the text has fewer than two words.
        """
        given, predicted = skip_gram_pairs(ids, self.config.window)
        return self.pair_loss(given, predicted, "sum") / len(ids)


class Bigram(WordPairs):
    """A language model that looks back one word: ``P(w_1 ... w_T) = product over t = 2..T of p(w_t | w_(t-1))``.

    The first word is not predicted. This is the second-order word approximation of Shannon 1948, section 3.

    Example:
        >>> import numpy as np
        >>> import models
        >>> model = models.Bigram(models.SkipGramConfig(vocab_size=8), rng=np.random.default_rng(0))
        >>> model([0, 1, 2]).shape
        (3, 8)
        >>> round(float(np.exp(model.loss([0, 1, 2]).item())), 3)  # untrained: all words are equally likely
        8.0
    """

    def log_probability(self, ids: TensorLike) -> Tensor:
        """Return ``log P`` of one text, ids (length,). The errors are those of :meth:`SkipGram.loss`."""
        ids = _text(ids)
        return -self.pair_loss(ids[:-1], ids[1:], "sum")

    def loss(self, ids: Any) -> Tensor:
        """Return ``-log P / (T - 1)``, in nats per word; its exponential is the perplexity."""
        return -self.log_probability(ids) / (len(ids) - 1)


def skip_gram_pairs(ids: TensorLike, window: int) -> tuple[Array, Array]:
    """Return all pairs of a word and one of its neighbours, as two arrays of ids, (pairs,) each.

    >>> skip_gram_pairs([7, 8, 9], 1)
    (array([7, 8, 8, 9]), array([8, 7, 9, 8]))
    """
    ids = _text(ids)
    check_positive(window=window)
    offsets = np.concatenate([np.arange(-window, 0), np.arange(1, window + 1)])
    neighbours = np.arange(len(ids))[:, None] + offsets  # (length, 2 window)
    inside = (neighbours >= 0) & (neighbours < len(ids))
    return np.repeat(ids, inside.sum(axis=1)), ids[neighbours[inside]]


def _text(ids: TensorLike) -> Array:
    ids = np.asarray(to_host(plain(ids, "ids")))  # the pairs are looked up on the host
    if ids.ndim != 1:
        raise ShapeError(f"ids must be one text, of shape (length,), got {ids.shape}")
    if ids.size and ids.dtype.kind not in "iu":
        raise DTypeError(f"ids must be integers, got dtype {ids.dtype}")
    if len(ids) < 2:
        raise ArgumentError(f"ids must be a text of at least 2 words, got {len(ids)}: shorter texts have no pairs")
    return ids
