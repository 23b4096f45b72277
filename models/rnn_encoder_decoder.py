"""RNNEncoderDecoder: a recurrent network reads a sequence, another writes one and looks back at what was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from nn._checks import beside, id_array
from nn.masks import as_key_mask

from ._config import Config


@dataclass(frozen=True)
class RNNEncoderDecoderConfig(Config):
    """The sizes of an :class:`RNNEncoderDecoder`.

    Attributes:
        source_vocab, target_vocab: ids are 0 to this - 1.
        start, end: the target ids that open and close a sequence.
        embedding: the width of the vectors of the ids.
        hidden: the width of the states: of each direction of the encoder, of the decoder, and inside the score.
        attention: without it the decoder knows the source by the encoder's last states only.

    Raises:
        ArgumentError: start or end is no id of the target.

    Example:
        >>> import models
        >>> from minigrad import ArgumentError
        >>> try:
        ...     models.RNNEncoderDecoderConfig(source_vocab=10, target_vocab=8, start=1, end=8)
        ... except ArgumentError as error:
        ...     print(error)
        end must be an id of the target vocabulary, 0 to 7, got 8
    """

    source_vocab: int
    target_vocab: int
    start: int
    end: int
    embedding: int = 32
    hidden: int = 64
    attention: bool = True

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            if not 0 <= getattr(self, name) < self.target_vocab:
                raise ArgumentError(
                    f"{name} must be an id of the target vocabulary, 0 to {self.target_vocab - 1}, got {getattr(self, name)}"
                )


class Source(NamedTuple):
    """What the decoder knows of the sources."""

    states: Tensor  # (batch, source, 2 hidden), a state for each token, from the left beside from the right
    last: Tensor  # (batch, 2 hidden), the last state of each direction
    mask: Any  # (batch, source) or None


class RNNEncoderDecoder(nn.Module):
    """The translator of Bahdanau, Cho and Bengio 2014, arXiv:1409.0473, with whom attention began. ::

        h_j = [GRU from the left, GRU from the right](E source)_j          a state for each token of the source
        s_0 = tanh(W_s h_1)                                               with h_1 from the right: it has read all
        c_i = sum_j a_ij h_j,  a_i = softmax_j(v . tanh(W s_{i-1} + U h_j))   where to look before writing y_i
        s_i = GRU([E y_{i-1}, c_i], s_{i-1})
        p(y_i) = softmax([s_i, c_i, E y_{i-1}] W_o + b_o)

    (Sections 3.1 and 3.2; the paper has one more layer, of maxout units, before the softmax, and applies the reset gate of
    its GRU before the product.) With ``attention=False`` c_i is the same at each step: the last state of each direction, as
    in Cho et al. 2014, arXiv:1406.1078. Everything the decoder can know of a source must then fit into these two vectors.

    Masks are booleans of the shape of the ids, True for tokens and False for padding; None if nothing is padding.

    Args:
        rng: where the initial weights come from: the same generator state gives the same model.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.RNNEncoderDecoderConfig(source_vocab=10, target_vocab=8, start=1, end=2)
        >>> model = models.RNNEncoderDecoder(config, rng=np.random.default_rng(0))
        >>> source, target = [[5, 6, 7, 2]], models.shifted_right([[3, 4, 2]], start=1)
        >>> model(source, target).shape, model.attention_weights(source, target).shape
        ((1, 3, 8), (1, 3, 4))
    """

    def __init__(self, config: RNNEncoderDecoderConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config = config
        embedding, hidden = config.embedding, config.hidden
        settings: dict[str, Any] = {"rng": rng, "dtype": dtype}
        self.source_embedding = nn.Embedding(config.source_vocab, embedding, **settings)
        self.target_embedding = nn.Embedding(config.target_vocab, embedding, **settings)
        self.forwards = nn.GRU(embedding, hidden, **settings)
        self.backwards = nn.GRU(embedding, hidden, reverse=True, **settings)
        self.first_state = nn.Affine(hidden, hidden, **settings)
        self.attention = nn.AdditiveAttention(hidden, 2 * hidden, hidden, **settings) if config.attention else None
        self.cell = nn.GRUCell(embedding + 2 * hidden, hidden, **settings)
        self.output = nn.Affine(hidden + 2 * hidden + embedding, config.target_vocab, **settings)

    def forward(self, source: Any, target: Any, source_mask: Any = None) -> Tensor:
        """The logits of the next id at every place of the decoder's input (teacher forcing).

        Args:
            source: (batch, source) ids.
            target: (batch, target) ids, beginning with the start id: :func:`shifted_right` of what is to be written. Padding
                at the end needs no mask, only a loss that ignores it.
            source_mask: (batch, source).

        Returns:
            (batch, target, target_vocab)

        Raises:
            ShapeError: ids are no matrix, or a mask has another shape.
            DTypeError, OutOfRangeError: ids are no integers of the vocabulary, or a mask is neither boolean nor 0/1.
        """
        return self._decode(source, target, source_mask)[0]

    def attention_weights(self, source: Any, target: Any, source_mask: Any = None) -> Tensor:
        """Where the decoder looks before it writes each id: (batch, target, source). Arguments as of :meth:`forward`.

        Raises:
            ArgumentError: the model was made without attention.
        """
        if self.attention is None:
            raise ArgumentError("this RNNEncoderDecoder was made with attention=False: it has no weights to show")
        weights: Any = np.stack(self._decode(source, target, source_mask)[1], axis=1)
        return weights

    def greedy(self, source: Any, source_mask: Any = None, *, max_length: int) -> list[nn.Hypothesis]:
        """For each source the ids found by always taking the most probable one: see :func:`nn.greedy_decode`."""
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length}
        return nn.greedy_decode(self.decoding_step(source, source_mask), batch=len(source), **settings)

    def encode(self, source: Any, source_mask: Any = None) -> Source:
        """Read the sources: (batch, source) ids."""
        source = id_array(source, "RNNEncoderDecoder")
        if source.ndim != 2:
            raise ShapeError(f"RNNEncoderDecoder needs source ids of shape (batch, source), got {source.shape}")
        x = self.source_embedding(source)  # (batch, source, embedding)
        source_mask = as_key_mask(source_mask, source.shape, x.data, "source_mask")
        directions = [gru(x, key_mask=source_mask) for gru in (self.forwards, self.backwards)]
        states, last = (_side_by_side(*parts) for parts in zip(*directions))  # (batch, source, 2 hidden)
        return Source(states, last, source_mask)

    def initial_state(self, source: Source) -> Tensor:
        """s_0, (batch, hidden): from the state that has read the source from its end to its beginning."""
        state: Any = np.tanh(self.first_state(source.last[:, self.config.hidden :]))
        return state

    def step(self, previous: Any, state: Tensor, source: Source) -> tuple[Tensor, Tensor, Tensor | None]:
        """Write one id: ``previous`` (batch,) ids and s_{i-1} -> logits (batch, target_vocab), s_i, a_i (batch, source)."""
        y = self.target_embedding(previous)  # (batch, embedding)
        weights, context = None, source.last  # (batch, 2 hidden)
        if self.attention is not None:
            weights = self.attention.attention_weights(state, source.states, key_mask=source.mask)  # (batch, source)
            context = (weights[:, None] @ source.states)[:, 0]
        state = self.cell(_side_by_side(y, context), state)
        return self.output(_side_by_side(state, context, y)), state, weights

    def decoding_step(self, source: Any, source_mask: Any = None) -> nn.decoding.Step:
        """The step function with which :func:`nn.greedy_decode` and :func:`nn.beam_search` write; it keeps the states."""
        with no_grad():
            read = self.encode(source, source_mask)
            state = self.initial_state(read)

        def step(prefixes: Any, parents: Any) -> Tensor:
            nonlocal read, state
            rows = beside(parents, state.data)
            mask = None if read.mask is None else beside(read.mask, state.data)[rows]
            read = Source(read.states[rows], read.last[rows], mask)
            logits, state, _ = self.step(prefixes[:, -1], state[rows], read)
            return logits

        return step

    def _decode(self, source: Any, target: Any, source_mask: Any) -> tuple[Tensor, list[Any]]:
        target = id_array(target, "RNNEncoderDecoder")
        if target.ndim != 2:
            raise ShapeError(f"RNNEncoderDecoder needs target ids of shape (batch, target), got {target.shape}")
        read = self.encode(source, source_mask)
        if not target.shape[1] or len(target) != len(source):
            raise ShapeError(
                "RNNEncoderDecoder needs target ids of shape (batch, target), at least the start id in each and one for each "
                f"source, got source {np.shape(source)} and target {target.shape}"
            )
        state = self.initial_state(read)
        logits: list[Any] = []
        weights: list[Any] = []
        for i in range(target.shape[1]):
            step_logits, state, step_weights = self.step(target[:, i], state, read)
            logits.append(step_logits)
            weights.append(step_weights)
        stacked: Any = np.stack(logits, axis=1)
        return stacked, weights


def _side_by_side(*parts: Any) -> Any:
    """Vectors, one behind the other on the last axis."""
    return np.concatenate(parts, axis=-1)
