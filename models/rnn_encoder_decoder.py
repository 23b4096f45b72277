"""RNNEncoderDecoder: one recurrent network reads the source, another writes the target and attends to the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from minigrad.internal import Array, TensorLike, array_of
from nn._checks import beside, id_matrix
from nn.masks import token_ids

from ._config import Config, check_fields, check_target_ids
from ._model import Model, check_model


@dataclass(frozen=True)
class RNNEncoderDecoderConfig(Config):
    """The sizes of an :class:`RNNEncoderDecoder`.

    Attributes:
        source_vocab, target_vocab: the numbers of source and target ids; ids start at 0.
        start, end: the target ids that open and close a sequence.
        embedding: the width of the vectors of the ids.
        hidden: the width of the encoder's state in each direction, of the decoder's state, and inside the attention score.
        attention: whether the decoder attends to the source. Without attention it gets only the encoder's last states.

    Raises:
        ArgumentError: start or end is not an id of the target vocabulary.

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
        check_fields(self)
        check_target_ids(self.target_vocab, start=self.start, end=self.end)


class Source(NamedTuple):
    """The output of the encoder, which the decoder reads."""

    states: Tensor  # (batch, source, 2 hidden), a state for each token: both directions, concatenated
    last: Tensor  # (batch, 2 hidden), the last state of each direction
    mask: Any  # (batch, source) or None


class RNNEncoderDecoder(Model):
    """The translator of Bahdanau, Cho and Bengio 2014, arXiv:1409.0473, which introduced attention. ::

        h_j = [GRU from the left, GRU from the right](E source)_j          a state for each token of the source
        s_0 = tanh(W_s r_1)                                               r_1: the last state of the GRU from the right
        c_i = sum_j a_ij h_j,  a_i = softmax_j(v . tanh(W s_{i-1} + U h_j))   attention before writing y_i
        s_i = GRU([E y_{i-1}, c_i], s_{i-1})
        p(y_i) = softmax([s_i, c_i, E y_{i-1}] W_o + b_o)

    Source: sections 3.1 and 3.2. The paper has one more layer, of maxout units, before the softmax. Its GRU applies the reset
    gate before the product with U_n, not after it (:class:`nn.GRUCell`). With ``attention=False`` c_i is the last state of each
    direction at every step, as in Cho et al. 2014, arXiv:1406.1078: the decoder receives only two vectors of a source.

    The mask has the shape of the ids, True for tokens and False for padding: see :class:`nn.masks.Masks`.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.RNNEncoderDecoderConfig(source_vocab=10, target_vocab=8, start=1, end=2)
        >>> model = models.RNNEncoderDecoder(config, rng=np.random.default_rng(0))
        >>> source, target = [[5, 6, 7, 2]], models.shifted_right([[3, 4, 2]], start=1)
        >>> model(source, target).shape, model.attention_weights(source, target).shape
        ((1, 3, 8), (1, 3, 4))
    """

    config_class = RNNEncoderDecoderConfig

    def __init__(
        self, config: RNNEncoderDecoderConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32
    ) -> None:
        check_model(self, config, rng, dtype)
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

    def forward(self, source: TensorLike, target: TensorLike, source_key_mask: TensorLike | None = None) -> Tensor:
        """Return the logits of the next id at every position of the decoder's input (teacher forcing).

        Args:
            source: (batch, source) ids.
            target: (batch, target) ids, beginning with the start id: :func:`shifted_right` of the target. Padding at the end
                needs no mask; only the loss must ignore it.
            source_key_mask: (batch, source).

        Returns:
            (batch, target, target_vocab)

        Raises:
            ShapeError: the ids are not a matrix, or a mask has another shape.
            DTypeError, OutOfRangeError: the ids are not integers of the vocabulary, or a mask is neither boolean nor 0/1.
        """
        return self._decode(source, target, source_key_mask)[0]

    def attention_weights(
        self, source: TensorLike, target: TensorLike, source_key_mask: TensorLike | None = None
    ) -> Tensor:
        """Return the attention weights a_ij, (batch, target, source). The arguments are those of :meth:`forward`.

        Raises:
            ArgumentError: the model was made with ``attention=False``.
        """
        if self.attention is None:
            raise ArgumentError("this RNNEncoderDecoder was made with attention=False: it has no weights to show")
        weights: Any = np.stack(self._decode(source, target, source_key_mask)[1], axis=1)
        return weights

    def greedy(self, source: Any, source_key_mask: TensorLike | None = None, *, max_length: int) -> list[nn.Hypothesis]:
        """Decode each source by taking the most probable id at each step: see :func:`nn.greedy_decode`."""
        settings = {"start": self.config.start, "end": self.config.end, "max_length": max_length}
        return nn.greedy_decode(self.decoding_step(source, source_key_mask), batch=len(source), **settings)

    def encode(self, source: TensorLike, source_key_mask: TensorLike | None = None) -> Source:
        """Encode the sources, (batch, source) ids."""
        source, mask = token_ids(
            source, source_key_mask, array_of(self.source_embedding.weight), "RNNEncoderDecoder",
            "source ids of shape (batch, source)", "source_key_mask",
        )  # fmt: skip
        x = self.source_embedding(source)  # (batch, source, embedding)
        directions = [gru(x, key_mask=mask) for gru in (self.forwards, self.backwards)]
        states, last = (_side_by_side(*parts) for parts in zip(*directions))  # (batch, source, 2 hidden)
        return Source(states, last, mask)

    def initial_state(self, source: Source) -> Tensor:
        """Return s_0, (batch, hidden), computed from the last state of the encoder's GRU from the right."""
        state: Any = np.tanh(self.first_state(source.last[:, self.config.hidden :]))
        return state

    def step(self, previous: TensorLike, state: Tensor, source: Source) -> tuple[Tensor, Tensor, Tensor | None]:
        """Take one step: ``previous`` (batch,) ids and s_{i-1} -> logits (batch, target_vocab), s_i, a_i (batch, source)."""
        y = self.target_embedding(previous)  # (batch, embedding)
        weights, context = None, source.last  # (batch, 2 hidden)
        if self.attention is not None:
            context, weights = self.attention.with_weights(
                state, source.states, key_mask=source.mask
            )  # a_i: (batch, source)
        state = self.cell(_side_by_side(y, context), state)
        return self.output(_side_by_side(state, context, y)), state, weights

    def decoding_step(self, source: TensorLike, source_key_mask: TensorLike | None = None) -> nn.decoding.Step:
        """Return a step function for one :func:`nn.greedy_decode` or :func:`nn.beam_search`; it keeps the states."""
        with no_grad():
            read = self.encode(source, source_key_mask)
            state = self.initial_state(read)

        def step(prefixes: NDArray[Any], parents: NDArray[Any]) -> Tensor:
            nonlocal read, state
            rows = beside(parents, state.data)
            mask = None if read.mask is None else beside(read.mask, state.data)[rows]
            read = Source(read.states[rows], read.last[rows], mask)
            logits, state, _ = self.step(prefixes[:, -1], state[rows], read)
            return logits

        return step

    def _decode(self, source: Array, target: Array, source_key_mask: TensorLike | None) -> tuple[Tensor, list[Any]]:
        target = id_matrix(target, "RNNEncoderDecoder", "target ids of shape (batch, target)")
        read = self.encode(source, source_key_mask)
        if not target.shape[1] or len(target) != len(source):
            raise ShapeError(
                "RNNEncoderDecoder needs target ids of shape (batch, target), with one row for each source and at least the "
                f"start id in each row, got source {np.shape(source)} and target {target.shape}"
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
    """Concatenate vectors along the last axis."""
    return np.concatenate(parts, axis=-1)
