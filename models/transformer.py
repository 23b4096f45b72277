"""Transformer: the encoder-decoder that reads one sequence and writes another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from nn._checks import beside, check_not_negative, check_positive, id_array
from nn.masks import as_key_mask
from nn.transformer import attention_by_layer

from ._config import Config


@dataclass(frozen=True)
class TransformerConfig(Config):
    """The sizes of a :class:`Transformer`. The defaults are the paper's habits at a toy's size.

    Attributes:
        source_vocab: token ids of the source are 0 to source_vocab - 1.
        start, end: the target ids that open and close a sequence.
        target_vocab: of the target; 0 means that source and target have one vocabulary, and share its embedding.
        d_model: the width of the residual stream; a multiple of ``num_heads``.
        num_layers: N, of the encoder.
        decoder_layers: of the decoder; 0 means as many.
        hidden: the width inside the feed-forward part; 0 means ``4 * d_model``.
        norm: "post" (normalise what leaves a sublayer, as in the paper) or "pre" (what enters it).

    Raises:
        ArgumentError: a number of layers is out of its range, or start or end is no id of the target.

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
        check_positive(num_layers=self.num_layers)
        check_not_negative(decoder_layers=self.decoder_layers, target_vocab=self.target_vocab)
        target_vocab = self.target_vocab or self.source_vocab
        for name in ("start", "end"):
            if not 0 <= getattr(self, name) < target_vocab:
                raise ArgumentError(
                    f"{name} must be an id of the target vocabulary, 0 to {target_vocab - 1}, got {getattr(self, name)}"
                )


def shifted_right(target: Any, start: int) -> Any:
    """What the decoder reads while it learns to write ``target``: (batch, length) ids -> the same shape.

    ``start`` comes first and every id moves one place to the right, the last one out; so what stands at place t are the
    ids before t, and the logits at place t are compared with ``target[:, t]``::

        target                  I     eat   mandarin  end
        shifted_right(target)   start I     eat       mandarin

    Raises:
        ShapeError, DTypeError: target is no matrix of numbers.

    Example:
        >>> import models
        >>> models.shifted_right([[5, 6, 7, 2]], start=1)
        array([[1, 5, 6, 7]])
    """
    target = id_array(target, "shifted_right")
    if target.ndim != 2:
        raise ShapeError(f"shifted_right needs ids of shape (batch, length), got {target.shape}")
    return np.concatenate([np.full_like(target[:, :1], start), target[:, :-1]], axis=1)


class Transformer(nn.Module):
    """The encoder-decoder of Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762.

    ::

        memory = encoder layers(sqrt(D) * E[source] + p)
        logits = decoder layers(sqrt(D) * E[shifted target] + p, memory) @ E^T

    E is one table for encoder, decoder and output where they have one vocabulary (section 3.4); otherwise the decoder's is
    shared with the output. p are the sinusoidal position codes.

    Masks are booleans of the shape of the ids, True for tokens and False for padding; None if nothing is padding.

    Args:
        rng: where the initial weights come from: the same generator state gives the same model.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.TransformerConfig(source_vocab=10, start=1, end=2, d_model=16)
        >>> model, source = models.Transformer(config, rng=np.random.default_rng(0)), [[5, 6, 7, 2]]
        >>> found = model.greedy(source, max_length=4)[0]  # step by step, with caches
        >>> logits = model(source, [[1, *found.ids]]).numpy()  # all places at once
        >>> logits.shape, (logits[0, :4].argmax(axis=-1) == found.ids).all().item()
        ((1, 5, 10), True)
    """

    def __init__(self, config: TransformerConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config = config
        d_model, std = config.d_model, config.d_model**-0.5  # so that sqrt(D) e has variance 1, and the logits too
        self.source_embedding = nn.Embedding(config.source_vocab, d_model, std=std, rng=rng, dtype=dtype)
        self.target_embedding = (
            nn.Embedding(config.target_vocab, d_model, std=std, rng=rng, dtype=dtype)
            if config.target_vocab
            else self.source_embedding
        )
        self.positions = nn.PositionalEncoding(d_model)
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        sizes = (d_model, config.num_heads, config.hidden or 4 * d_model)
        settings: dict[str, Any] = {
            "norm": config.norm,
            "activation": config.activation,
            "dropout": config.dropout,
            "rng": rng,
            "dtype": dtype,
        }
        self.encoder = [nn.TransformerEncoderLayer(*sizes, **settings) for _ in range(config.num_layers)]
        self.decoder = [
            nn.TransformerDecoderLayer(*sizes, **settings) for _ in range(config.decoder_layers or config.num_layers)
        ]
        pre = config.norm == "pre"
        self.output = nn.TiedOutput(self.target_embedding)
        self.encoder_norm = nn.LayerNorm(d_model, dtype=dtype) if pre else None
        self.decoder_norm = nn.LayerNorm(d_model, dtype=dtype) if pre else None

    def forward(self, source: Any, target: Any, source_mask: Any = None, target_mask: Any = None) -> Tensor:
        """The logits of the next id at every place of the decoder's input.

        Args:
            source: (batch, source) ids.
            target: (batch, target) ids, beginning with the start id: in training :func:`shifted_right` of what is to be
                written.
            source_mask, target_mask: (batch, source) and (batch, target). Padding at the end of the target needs no mask
                (no token sees what is after it), only a loss that ignores it.

        Returns:
            (batch, target, target vocabulary)

        Raises:
            ShapeError: ids are no matrix, or a mask has another shape.
            DTypeError, OutOfRangeError: ids are no integers of the vocabulary, or a mask is neither boolean nor 0/1.
        """
        return self.decode(target, self.encode(source, source_mask), source_mask, target_mask)

    def encode(self, source: Any, source_mask: Any = None) -> Tensor:
        """The memory that the decoder attends to: (batch, source) ids -> (batch, source, d_model)."""
        x = self._embedded(self.source_embedding, source)  # (batch, source, d_model)
        source_mask = as_key_mask(source_mask, x.shape[:2], x.data, "source_mask")
        for layer in self.encoder:
            x = layer(x, key_mask=source_mask)
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def decode(
        self,
        target: Any,
        memory: Any,
        source_mask: Any = None,
        target_mask: Any = None,
        caches: Sequence[tuple[nn.KeyValueCache, nn.KeyValueCache]] | None = None,
    ) -> Tensor:
        """(batch, target) ids and the memory -> logits (batch, target, target vocabulary).

        With ``caches`` (two for each decoder layer, for its two attentions) and under ``no_grad``, only the ids that they have
        not seen are computed, and there are logits for these only.
        """
        x = self._embedded(self.target_embedding, target)  # (batch, target, d_model)
        masks = self._masks(x, memory, source_mask, target_mask)
        pairs: Sequence[Any] = [(None, None)] * len(self.decoder) if caches is None else caches
        if caches is not None:
            x = x[:, caches[0][0].length :]
        for layer, (cache, memory_cache) in zip(self.decoder, pairs, strict=True):
            x = layer(x, memory, **masks, cache=cache, memory_cache=memory_cache)
        if self.decoder_norm is not None:
            x = self.decoder_norm(x)
        return self.output(x)

    def greedy(self, source: Any, source_mask: Any = None, *, max_length: int) -> list[nn.Hypothesis]:
        """For each source the ids found by always taking the most probable one: see :func:`nn.greedy_decode`.

        Switch the model to ``eval()`` first if it has dropout.
        """
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length}
        return nn.greedy_decode(self.step(source, source_mask), batch=len(source), **settings)

    def beam(
        self, source: Any, source_mask: Any = None, *, max_length: int, beam: int = 4, alpha: float = 0.6
    ) -> list[list[nn.Hypothesis]]:
        """For each source the best hypotheses, best first: see :func:`nn.beam_search`."""
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length, "beam": beam}
        return nn.beam_search(self.step(source, source_mask), batch=len(source), alpha=alpha, **settings)

    def step(self, source: Any, source_mask: Any = None) -> nn.decoding.Step:
        """The step function with which to decode ``source`` once. It keeps the memory, and all keys and values, in caches."""
        with no_grad():
            memory = self.encode(source, source_mask).data
        caches = [(nn.KeyValueCache(), nn.KeyValueCache()) for _ in self.decoder]

        def step(prefixes: Any, parents: Any) -> Tensor:
            nonlocal memory, source_mask
            memory = _picked(memory, parents)
            source_mask = None if source_mask is None else _picked(source_mask, parents)
            for cache in itertools.chain.from_iterable(caches):
                cache.select(parents)
            return self.decode(prefixes, memory, source_mask, caches=caches)[:, -1]

        return step

    def attention_weights(
        self, source: Any, target: Any, source_mask: Any = None, target_mask: Any = None
    ) -> dict[str, list[Tensor]]:
        """Where every token looks, by layer, each (batch, heads, query, key).

        "encoder": source in source; "decoder": target in target; "cross": target in source. Arguments as of
        :meth:`forward`.
        """
        x = self._embedded(self.source_embedding, source)
        source_mask = as_key_mask(source_mask, x.shape[:2], x.data, "source_mask")
        encoder, x = attention_by_layer(self.encoder, x, key_mask=source_mask)
        weights: dict[str, list[Tensor]] = {"encoder": encoder, "decoder": [], "cross": []}
        memory = x if self.encoder_norm is None else self.encoder_norm(x)
        x = self._embedded(self.target_embedding, target)
        masks = self._masks(x, memory, source_mask, target_mask)
        for decoder_layer in self.decoder:
            weights["decoder"].append(decoder_layer.attention_weights(x, key_mask=masks["key_mask"]))
            weights["cross"].append(decoder_layer.cross_attention_weights(x, memory, **masks))
            x = decoder_layer(x, memory, **masks)
        return weights

    def _masks(self, x: Tensor, memory: Any, source_mask: Any, target_mask: Any) -> dict[str, Any]:
        """Those of the decoder's layers, checked under the names that they have here."""
        return {
            "key_mask": as_key_mask(target_mask, x.shape[:2], x.data, "target_mask"),
            "memory_key_mask": as_key_mask(source_mask, memory.shape[:2], x.data, "source_mask"),
        }

    def _embedded(self, embedding: nn.Embedding, ids: Any) -> Tensor:
        """``dropout(sqrt(D) * e + p)``: (batch, length) -> (batch, length, d_model)"""
        ids = id_array(ids, "Transformer")
        if ids.ndim != 2:
            raise ShapeError(f"Transformer needs ids of shape (batch, length), got {ids.shape}")
        return self.dropout(self.positions(math.sqrt(self.config.d_model) * embedding(ids)))


def _picked(array: Any, rows: Any) -> Any:
    """``array[rows]``, for rows from the host and an array that may be elsewhere."""
    array = array if hasattr(array, "dtype") else np.asarray(array)
    return array[beside(rows, array)]
