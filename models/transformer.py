"""Transformer: the encoder-decoder that reads one sequence and writes another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from minigrad.internal import TensorLike, array_of
from nn._checks import as_given, beside, check_kind, check_not_negative, id_matrix, shown
from nn.cache import growing
from nn.masks import as_key_mask, token_ids
from nn.transformer import attention_by_layer

from ._config import Config, check_fields, check_layers, check_target_ids
from ._layers import stack
from ._model import Model, check_model


@dataclass(frozen=True)
class TransformerConfig(Config):
    """The sizes of a :class:`Transformer`. The defaults follow the paper's design at a much smaller size.

    Attributes:
        source_vocab: the number of source ids, which are 0 to source_vocab - 1.
        start, end: the target ids that open and close a sequence.
        target_vocab: the number of target ids; 0 means that source and target share one vocabulary and its embedding.
        d_model, num_heads, hidden, dropout, activation: as in :class:`ClassifierConfig`.
        num_layers: N, the number of encoder layers.
        decoder_layers: the number of decoder layers; 0 means ``num_layers``.
        norm: "post" (normalise the output of each sublayer, as in the paper) or "pre" (normalise its input).

    Raises:
        ArgumentError: a size is out of its range, num_heads does not divide d_model, the activation is unknown, or start or end
            is not an id of the target vocabulary.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.TransformerConfig(source_vocab=10, start=1, end=2)  # one vocabulary, so one table
        >>> model = models.Transformer(config, rng=np.random.default_rng(0))
        >>> model.target_embedding is model.source_embedding
        True
    """

    source_vocab: int
    start: int
    end: int
    target_vocab: int = 0
    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 2
    decoder_layers: int = 0
    hidden: int = 0
    dropout: float = 0.0
    activation: str = "relu"
    norm: str = "post"

    def __post_init__(self) -> None:
        check_layers(self)
        check_fields(self)
        check_not_negative(decoder_layers=self.decoder_layers, target_vocab=self.target_vocab)
        check_target_ids(self.target_vocab or self.source_vocab, start=self.start, end=self.end)


def shifted_right(target: TensorLike, start: int) -> Any:
    """Return the decoder's input for learning to write ``target``: (batch, length) ids -> the same shape.

    The result starts with ``start``, followed by all ids of ``target`` except the last. The decoder's logits at position t
    thus depend only on ``target[:, :t]``, and are compared with ``target[:, t]``::

        target                  I     eat   mandarin  end
        shifted_right(target)   start I     eat       mandarin

    Raises:
        ShapeError, DTypeError: target is not a matrix of numbers.

    Example:
        >>> import models
        >>> models.shifted_right([[5, 6, 7, 2]], start=1)
        array([[1, 5, 6, 7]])
    """
    check_not_negative(start=start)
    target = id_matrix(target, "shifted_right")
    return np.concatenate([np.full_like(target[:, :1], start), target[:, :-1]], axis=1)


class Transformer(Model):
    """The encoder-decoder of Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762.

    ::

        memory = encoder layers(sqrt(D) * E[source] + p)
        logits = decoder layers(sqrt(D) * E[shifted target] + p, memory) @ E^T

    If source and target share one vocabulary, then encoder, decoder and output share the table E (section 3.4). Otherwise the
    decoder and the output share a table, and the encoder has its own. p is the table of sinusoidal position codes.

    The masks have the shape of the ids, True for tokens and False for padding: see :class:`nn.masks.Masks`.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.TransformerConfig(source_vocab=10, start=1, end=2, d_model=16)
        >>> model, source = models.Transformer(config, rng=np.random.default_rng(0)), [[5, 6, 7, 2]]
        >>> found = model.greedy(source, max_length=4)[0]  # step by step, with caches
        >>> logits = model(source, [[1, *found.ids]]).numpy()  # all positions at once
        >>> logits.shape, (logits[0, :4].argmax(axis=-1) == found.ids).all().item()
        ((1, 5, 10), True)
    """

    config_class = TransformerConfig

    def __init__(self, config: TransformerConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        d_model, std = config.d_model, config.d_model**-0.5  # sqrt(D) e and the logits then have variance 1
        self.source_embedding = nn.Embedding(config.source_vocab, d_model, std=std, rng=rng, dtype=dtype)
        self.target_embedding = (
            nn.Embedding(config.target_vocab, d_model, std=std, rng=rng, dtype=dtype)
            if config.target_vocab
            else self.source_embedding
        )
        self.positions = nn.PositionalEncoding(d_model)
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        settings: dict[str, Any] = {"norm": config.norm, "rng": rng, "dtype": dtype}
        self.encoder = stack(nn.TransformerEncoderLayer, config, **settings)
        self.decoder = stack(nn.TransformerDecoderLayer, config, count=config.decoder_layers or None, **settings)
        pre = config.norm == "pre"
        self.output = nn.TiedOutput(self.target_embedding)
        self.encoder_norm = nn.LayerNorm(d_model, dtype=dtype) if pre else None
        self.decoder_norm = nn.LayerNorm(d_model, dtype=dtype) if pre else None

    def forward(
        self,
        source: TensorLike,
        target: TensorLike,
        source_key_mask: TensorLike | None = None,
        target_key_mask: TensorLike | None = None,
    ) -> Tensor:
        """Return the logits of the next id at every position of the decoder's input.

        Args:
            source: (batch, source) ids.
            target: (batch, target) ids, beginning with the start id: in training :func:`shifted_right` of the target.
            source_key_mask, target_key_mask: (batch, source) and (batch, target). Padding at the end of the target needs no
                mask, because no token sees later tokens; only the loss must ignore it.

        Returns:
            (batch, target, target vocabulary)

        Raises:
            ShapeError: the ids are not a matrix, or a mask has another shape.
            DTypeError, OutOfRangeError: the ids are not integers of the vocabulary, or a mask is neither boolean nor 0/1.
        """
        return self.decode(target, self.encode(source, source_key_mask), source_key_mask, target_key_mask)

    def encode(self, source: TensorLike, source_key_mask: TensorLike | None = None) -> Tensor:
        """Return the memory that the decoder attends to: (batch, source) ids -> (batch, source, d_model)."""
        x, source_key_mask = self._embedded(self.source_embedding, source, source_key_mask, "source_key_mask")
        for layer in self.encoder:
            x = layer(x, key_mask=source_key_mask)
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def decode(
        self,
        target: TensorLike,
        memory: TensorLike,
        source_key_mask: TensorLike | None = None,
        target_key_mask: TensorLike | None = None,
        caches: Sequence[tuple[nn.KeyValueCache, nn.KeyValueCache]] | None = None,
    ) -> Tensor:
        """Return the logits of the next id: (batch, target) ids and the memory -> (batch, target, target vocabulary).

        ``caches`` hold two caches for each decoder layer, one for each of its attentions, and need ``no_grad``. With them only
        the ids that are not cached yet are computed, and the result holds the logits of these ids only. An error leaves the
        caches as they were.
        """
        memory = as_given(memory, "memory")
        if memory.ndim != 3:
            raise ShapeError(f"memory must have the shape (batch, source, d_model), got {memory.shape}")
        if caches is not None:
            pair = isinstance(caches, (list, tuple)) and len(caches) == len(self.decoder)
            if not pair or not all(isinstance(each, tuple) and len(each) == 2 for each in caches):
                raise ArgumentError(f"caches must be a pair of KeyValueCaches for each layer, got {shown(caches)}")
            for cache, memory_cache in caches:
                check_kind("KeyValueCaches", nn.KeyValueCache, caches=cache)
                check_kind("KeyValueCaches", nn.KeyValueCache, caches=memory_cache)
        x, masks = self._target(target, memory, source_key_mask, target_key_mask)  # (batch, target, d_model)
        pairs: Sequence[Any] = [(None, None)] * len(self.decoder) if caches is None else caches
        if caches is not None:
            x = x[:, caches[0][0].length :]
        own, other = zip(*pairs) if caches else ((), ())
        with growing(own), growing(other):
            for layer, (cache, memory_cache) in zip(self.decoder, pairs, strict=True):
                x = layer(x, memory, **masks, cache=cache, memory_cache=memory_cache)
        if self.decoder_norm is not None:
            x = self.decoder_norm(x)
        return self.output(x)

    def greedy(self, source: Any, source_key_mask: TensorLike | None = None, *, max_length: int) -> list[nn.Hypothesis]:
        """Decode each source by taking the most probable id at each step: see :func:`nn.greedy_decode`.

        Switch the model to ``eval()`` first if it has dropout.
        """
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length}
        return nn.greedy_decode(self.step(source, source_key_mask), batch=len(source), **settings)

    def beam(
        self,
        source: Any,
        source_key_mask: TensorLike | None = None,
        *,
        max_length: int,
        beam: int = 4,
        alpha: float = 0.6,
    ) -> list[list[nn.Hypothesis]]:
        """Return the best hypotheses for each source, best first: see :func:`nn.beam_search`."""
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length, "beam": beam}
        return nn.beam_search(self.step(source, source_key_mask), batch=len(source), alpha=alpha, **settings)

    def step(self, source: TensorLike, source_key_mask: TensorLike | None = None) -> nn.decoding.Step:
        """Return a step function for one decoding of ``source``; it caches keys and values, so make a new one for the next."""
        with no_grad():
            memory = self.encode(source, source_key_mask).data
        caches = [(nn.KeyValueCache(), nn.KeyValueCache()) for _ in self.decoder]

        def step(prefixes: NDArray[Any], parents: NDArray[Any]) -> Tensor:
            nonlocal memory, source_key_mask
            memory = _picked(memory, parents)
            source_key_mask = None if source_key_mask is None else _picked(source_key_mask, parents)
            for cache in itertools.chain.from_iterable(caches):
                cache.select(parents)
            return self.decode(prefixes, memory, source_key_mask, caches=caches)[:, -1]

        return step

    def attention_weights(
        self,
        source: TensorLike,
        target: TensorLike,
        source_key_mask: TensorLike | None = None,
        target_key_mask: TensorLike | None = None,
    ) -> dict[str, list[Tensor]]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection.

        The result is a dict with a list of layers for "encoder" (source attends to source), "decoder" (target to target) and
        "cross" (target to source). The arguments are those of :meth:`forward`.
        """
        x, source_key_mask = self._embedded(self.source_embedding, source, source_key_mask, "source_key_mask")
        encoder, x = attention_by_layer(self.encoder, x, key_mask=source_key_mask)
        weights: dict[str, list[Tensor]] = {"encoder": encoder, "decoder": [], "cross": []}
        memory = x if self.encoder_norm is None else self.encoder_norm(x)
        x, masks = self._target(target, memory, source_key_mask, target_key_mask)
        for decoder_layer in self.decoder:
            weights["decoder"].append(decoder_layer.attention_weights(x, key_mask=masks["key_mask"]))
            weights["cross"].append(decoder_layer.cross_attention_weights(x, memory, **masks))
            x = decoder_layer(x, memory, **masks)
        return weights

    def _target(
        self, target: TensorLike, memory: Any, source_key_mask: TensorLike | None, target_key_mask: TensorLike | None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return the input of the decoder's layers and their masks; errors name the masks by this class's arguments."""
        x, key_mask = self._embedded(self.target_embedding, target, target_key_mask, "target_key_mask")
        memory_key_mask = as_key_mask(source_key_mask, memory.shape[:2], x.data, "source_key_mask")
        return x, {"key_mask": key_mask, "memory_key_mask": memory_key_mask}

    def _embedded(
        self, embedding: nn.Embedding, ids: TensorLike, mask: TensorLike | None, name: str
    ) -> tuple[Tensor, Any]:
        """Return ``dropout(sqrt(D) * e + p)``, (batch, length, d_model), for ids (batch, length), and the mask as booleans."""
        ids, key_mask = token_ids(ids, mask, array_of(embedding.weight), "Transformer", name=name)
        x = math.sqrt(self.config.d_model) * embedding(ids)
        return self.dropout(self.positions(x, key_mask=key_mask)), key_mask


def _picked(array: TensorLike, rows: Any) -> Any:
    """Return ``array[rows]`` for rows on the host and an array that may be on a device."""
    array = as_given(array, "memory")
    return array[beside(rows, array)]
