"""GPT: a decoder-only Transformer that generates a sequence token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from minigrad.internal import Array, TensorLike, to_host
from nn._checks import check_interval, check_not_negative, check_positive, id_array, id_matrix
from nn.cache import growing
from nn.init import check_generator
from nn.transformer import attention_by_layer

from ._config import Config, check_layers
from ._layers import stack
from ._model import Model


@dataclass(frozen=True)
class GPTConfig(Config):
    """The sizes of a :class:`GPT`.

    Attributes:
        vocab_size: the number of token ids, which are 0 to vocab_size - 1.
        window: the greatest number of tokens that the model sees at once.
        d_model: the width of the residual stream; a multiple of ``num_heads``.
        num_heads: the number of heads of each attention.
        num_layers: the number of layers.
        hidden: the width inside the feed-forward part; 0 means ``4 * d_model``.
        dropout: the probability with which an element is dropped in training, after the embeddings and in every layer.
        activation: that of the feed-forward part, "relu", "gelu", "gelu_tanh", "silu" or "swiglu" (:class:`nn.FeedForward`).
        positions: "learned" (one vector per position, as in GPT-2), "rotary" (queries and keys are rotated by an angle that
            grows with the position; the width of a head must then be even) or "alibi" (each head subtracts from a score the
            distance of the two tokens times a slope of its own; Press et al. 2021, arXiv:2108.12409, section 3).
        num_kv_heads: the number of heads of keys and values, which groups of query heads share; 0 means ``num_heads``.
        rms_norm: whether RMSNorm stands in place of LayerNorm.
        bias: whether the maps have biases.
        tied: whether the output uses the embedding's weights; if not, it has its own, without biases.
        rotary_base: the base of the angles of rotary positions, as in :class:`nn.RotaryPositions`.
        sliding_window: the number of tokens that a token attends to, itself and those just before it; 0 means all. Jiang et
            al. 2023, arXiv:2310.06825, section 2.
        attention_dropout: the probability with which an attention weight is dropped in training.
        std: the standard deviation of the initial embeddings, 0.02 as in GPT-2. Narrow networks learn faster with 0.1.
        characters: the character of each id, if tokens are characters. The network does not use them. A checkpoint file stores
            them, so that weights trained on one alphabet are never loaded for another.

    Raises:
        ArgumentError: a size, ``positions`` or ``activation`` is out of its range, num_heads does not divide d_model,
            or ``characters`` does not have vocab_size characters.

    Example:
        >>> import models
        >>> config = models.GPTConfig(vocab_size=10, window=8, positions="rotary")
        >>> models.GPTConfig.from_dict(config.to_dict()) == config
        True

        A decoder in the form of LLaMA (Touvron et al. 2023, arXiv:2302.13971, section 2.2):

        >>> form = dict(positions="rotary", activation="swiglu", rms_norm=True, bias=False, tied=False, num_kv_heads=2)
        >>> config = models.GPTConfig(vocab_size=10, window=8, d_model=32, **form)
    """

    vocab_size: int
    window: int
    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 2
    hidden: int = 0
    dropout: float = 0.0
    activation: str = "gelu"
    positions: str = "learned"
    std: float = 0.02
    characters: str = ""
    num_kv_heads: int = 0
    rms_norm: bool = False
    bias: bool = True
    tied: bool = True
    rotary_base: float = 10000.0
    sliding_window: int = 0
    attention_dropout: float = 0.0

    def __post_init__(self) -> None:
        check_positive(window=self.window)
        check_layers(self)
        check_not_negative(sliding_window=self.sliding_window)
        check_interval(1, np.inf, rotary_base=self.rotary_base)
        if self.positions not in ("learned", "rotary", "alibi"):
            raise ArgumentError(f"positions must be 'learned', 'rotary' or 'alibi', got {self.positions!r}")
        if self.characters and len(self.characters) != self.vocab_size:
            raise ArgumentError(
                f"characters must hold one character for each of vocab_size={self.vocab_size} ids, got {len(self.characters)}"
            )


class GPT(Model):
    """A causal language model: embeddings, pre-norm Transformer layers, and logits of the next token.

    ::

        x = E[ids] + P                                  # P: learned positions
        x = x + attention(LayerNorm(x))                 # causal; this line and the next are repeated num_layers times
        x = x + feed_forward(LayerNorm(x))
        logits = LayerNorm(x) @ E^T                     # the output is tied to the embedding

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (GPT-2), section 2.3. The initial
    embeddings are normal with a small standard deviation. Each attention and each feed-forward part adds its output to the
    residual stream, so its initial output weights are divided by the square root of the number of parts, 2 * num_layers.

    Args:
        config: the sizes, and what differs from the formulas above, such as ``rms_norm`` or rotary positions.
        rng, dtype: the generator and the dtype of the initial weights; the same generator state gives the same model.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.GPTConfig(vocab_size=10, window=8, d_model=16)
        >>> model = models.GPT(config, rng=np.random.default_rng(0))
        >>> a, b = model([[1, 2, 3]]).numpy(), model([[1, 2, 7]]).numpy()
        >>> a.shape, np.allclose(a[:, :2], b[:, :2], atol=1e-5)  # no token sees later tokens
        ((1, 3, 10), True)
        >>> tokens = list(model.generate([[1, 2], [3, 4]], 5, rng=np.random.default_rng(0)))
        >>> np.stack(tokens, axis=1).shape  # five tokens for each of the two prompts
        (2, 5)
    """

    config_class = GPTConfig

    def __init__(self, config: GPTConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        self.config = config
        d_model, learned = config.d_model, config.positions == "learned"
        self.embedding = nn.Embedding(config.vocab_size, d_model, std=config.std, rng=rng, dtype=dtype)
        self.positions = (
            nn.LearnedPositions(config.window, d_model, std=config.std, rng=rng, dtype=dtype) if learned else None
        )
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        settings: dict[str, Any] = {
            "num_kv_heads": config.num_kv_heads or None,
            "rms_norm": config.rms_norm,
            "bias": config.bias,
            "attention_dropout": config.attention_dropout,
        }
        rotary = config.positions == "rotary" and config.rotary_base
        settings |= {"norm": "pre", "rotary": rotary, "rng": rng, "dtype": dtype}
        self.layers = stack(nn.TransformerEncoderLayer, config, **settings)
        for layer in self.layers:
            for part in (layer.attention, layer.feed_forward):
                part.output.weight.data *= (2 * config.num_layers) ** -0.5
        self.norm = (
            nn.RMSNorm(d_model, eps=1e-5, dtype=dtype) if config.rms_norm else nn.LayerNorm(d_model, dtype=dtype)
        )
        self.output: nn.TiedOutput | nn.Affine = nn.TiedOutput(self.embedding)
        if not config.tied:
            self.output = nn.Affine(d_model, config.vocab_size, bias=False, rng=rng, dtype=dtype)

    def forward(self, ids: TensorLike, caches: Sequence[nn.KeyValueCache] | None = None) -> Tensor:
        """Return, for each token, the logits of the token that follows it.

        Args:
            ids: (batch, length) integers, with length at most ``window``. Padding at the end needs no mask, because no token
                sees later tokens; only the loss must ignore it.
            caches: one for each layer (:meth:`new_caches`), to be used under ``no_grad``. ``ids`` are then the tokens that
                follow those already in the caches.

        Returns:
            (batch, length, vocab_size)

        Raises:
            ShapeError: ``ids`` is not a matrix, or is longer than the window.
            DTypeError, OutOfRangeError: the ids are not integers of the vocabulary.
            ArgumentError: the number of caches is not the number of layers, or the caches hold different numbers of tokens.
                No error changes a cache.
        """
        if caches is not None and len(caches) != len(self.layers):
            raise ArgumentError(f"caches must be one for each of the {len(self.layers)} layers, got {len(caches)}")
        past = caches[0].length if caches else 0
        x = self._embedded(ids, past)  # (batch, length, d_model)
        masks = self._masks(past, x.shape[1])
        with growing(caches or ()):
            for i, layer in enumerate(self.layers):
                x = layer(x, **masks, cache=caches[i] if caches is not None else None)
        return self.output(self.norm(x))

    def new_caches(self) -> list[nn.KeyValueCache]:
        """Return one empty cache for each layer."""
        return [nn.KeyValueCache() for _ in self.layers]

    def attention_weights(self, ids: TensorLike) -> list[Tensor]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection."""
        x = self._embedded(ids)
        return attention_by_layer(self.layers, x, **self._masks(0, x.shape[1]))[0]

    def _masks(self, past: int, length: int) -> nn.masks.Masks:
        """Return the masks of ``length`` tokens after ``past`` tokens in the caches."""
        reach, stop = self.config.sliding_window, past + length
        masks: nn.masks.Masks = {"causal": True}
        if 0 < reach < stop:
            masks["mask"] = np.arange(stop) > np.arange(past, stop)[:, None] - reach
        if self.config.positions == "alibi":
            # For each query, the place of a key differs from minus their distance by a number that softmax takes out.
            slopes = alibi_slopes(self.config.num_heads).astype(self.embedding.weight.dtype)
            masks["bias"] = slopes[:, None, None] * np.arange(stop, dtype=slopes.dtype)
        return masks

    def generate(
        self,
        ids: TensorLike,
        count: int,
        *,
        rng: np.random.Generator,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        end: int | None = None,
        cache: bool = True,
    ) -> Iterator[np.ndarray[Any, Any]]:
        """Continue sequences, token by token::

            for tokens in model.eval().generate(prompts, 100, rng=rng, temperature=0.8, top_p=0.9):
                print(tokens)  # (batch,)

        When a sequence outgrows ``window``, the model keeps only its last half window of tokens as context. Each later token
        is thus computed from between half a window and a window of context, and the keys and values are recomputed only
        once per half window.

        Args:
            ids: (batch, length) integers with length at least 1; only the last ``window`` tokens are used.
            count: the number of tokens to add to each sequence.
            rng: draws the tokens; the same state gives the same tokens.
            temperature, top_k, top_p: as in :func:`nn.sample_tokens`.
            end: the id that closes a sequence. A closed sequence gets only this id; generation stops when all are closed.
            cache: whether to keep keys and values from token to token. False gives the same tokens, but takes longer.

        Yields:
            (batch,) integers on the host, the next token of each sequence. Each is computed when it is requested.

        Raises:
            ShapeError: ``ids`` is not a matrix, or is empty.
            ArgumentError: a setting is out of its range.
        """
        ids = id_array(ids, "generate")
        if ids.ndim != 2 or not ids.size:
            raise ShapeError(
                f"generate needs ids of shape (batch, length) with at least one token in each row, got {ids.shape}"
            )
        if count < 0:
            raise ArgumentError(f"count must be at least 0, got {count}")
        if end is not None and not 0 <= end < self.config.vocab_size:
            raise ArgumentError(f"end must be an id of the vocabulary, 0 to {self.config.vocab_size - 1}, got {end}")
        settings: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        nn.token_probabilities(np.zeros(2), **settings)  # checks the settings now, not at the first token
        return self._tokens(np.asarray(to_host(ids)), count, check_generator(rng), settings, end, cache)

    def _tokens(
        self, ids: Array, count: int, rng: np.random.Generator, settings: dict[str, Any], end: int | None, cache: bool
    ) -> Iterator[np.ndarray[Any, Any]]:
        window = self.config.window
        context = ids[:, -window:]  # the tokens that the model sees
        closed = np.zeros(len(ids), bool)
        caches, new = self.new_caches(), context  # new: the tokens that are not in the caches yet
        for _ in range(count):
            with no_grad():
                logits = self(new, caches) if cache else self(context)
            tokens = nn.sample_tokens(logits[:, -1], rng=rng, **settings)
            if end is not None:
                tokens = np.where(closed, end, tokens)
                closed |= tokens == end
            yield tokens
            if closed.all():
                return
            new = tokens[:, None]
            context = np.concatenate([context, new], axis=1)
            if context.shape[1] > window:
                context = context[:, -max(window // 2, 1) :]
                caches, new = self.new_caches(), context

    def _embedded(self, ids: TensorLike, past: int = 0) -> Tensor:
        """Return the input of the layers: (batch, length) -> (batch, length, d_model)."""
        ids = id_matrix(ids, "GPT")
        length, window = past + ids.shape[1], self.config.window
        if length > window:
            raise ShapeError(
                f"GPT sees at most window={window} tokens, got {length}: keep the last ones, ids[:, -{window}:]"
                + (", with new caches" if past else "")
            )
        x = self.embedding(ids)
        return self.dropout(x if self.positions is None else self.positions(x, start=past))


def alibi_slopes(num_heads: int) -> Array:
    """Return the slope of each head: from 2^(-8/n) to 2^-8 in a geometric sequence, if the number n of heads is a power of 2.

    For another number, the slopes of the next lower power of 2 come first, and then every other one of the next higher power.
    Source: Press et al. 2021, arXiv:2108.12409, section 3 and their published program.
    """
    lower = 2 ** (num_heads.bit_length() - 1)
    between = 2.0 ** (-4 * np.arange(1, 2 * lower, 2) / lower)
    return np.concatenate([2.0 ** (-8 * np.arange(1, lower + 1) / lower), between[: num_heads - lower]])
