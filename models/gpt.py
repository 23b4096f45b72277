"""GPT: a decoder-only Transformer that generates a sequence token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ArgumentError, ShapeError, Tensor, no_grad
from minigrad.internal import Array, TensorLike, array_of, to_host
from nn._checks import (
    as_given,
    beside,
    check_interval,
    check_kind,
    check_not_negative,
    check_positive,
    given,
    id_array,
    id_matrix,
    plain,
)  # fmt: skip
from nn.cache import growing
from nn.init import check_generator
from nn.masks import as_key_mask, ids_of_tokens, token_positions
from nn.transformer import attention_by_layer

from ._config import Config, check_fields, check_layers
from ._layers import stack
from ._model import Model, check_model


@dataclass(frozen=True)
class GPTConfig(Config):
    """The sizes of a :class:`GPT`.

    Attributes:
        vocab_size: the number of token ids, which are 0 to vocab_size - 1.
        window: the greatest number of tokens that the model sees at once.
        d_model, num_heads, num_layers, hidden, dropout, activation: as in :class:`ClassifierConfig`.
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
        check_layers(self)
        check_fields(self)
        check_interval(0, np.inf, std=self.std)
        check_positive(window=self.window)
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
        check_model(self, config, rng, dtype)
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

    def forward(
        self,
        ids: TensorLike,
        caches: Sequence[nn.KeyValueCache] | None = None,
        *,
        key_mask: TensorLike | None = None,
    ) -> Tensor:
        """Return, for each token, the logits of the token that follows it.

        Args:
            ids: (batch, length) integers, with length at most ``window``.
            caches: one for each layer (:meth:`new_caches`), to be used under ``no_grad``. ``ids`` are then the tokens that
                follow those already in the caches.
            key_mask: (batch, length), True for tokens and False for padding: see :class:`nn.masks.Masks`; with caches, it
                covers their tokens, too. The loss must leave the logits at padding out. Padding at the end needs no mask,
                because no token sees later tokens.

        Returns:
            (batch, length, vocab_size)

        Raises:
            ShapeError: ``ids`` is not a matrix, or is longer than the window, or ``key_mask`` has another shape.
            DTypeError, OutOfRangeError: the ids are not integers of the vocabulary, or ``key_mask`` is neither boolean nor 0/1.
            ArgumentError: ``caches`` is not one :class:`nn.KeyValueCache` for each layer, these hold different
                numbers of tokens, or ``key_mask`` differs from the one with which they were filled. No error changes a cache.
        """
        if caches is not None:
            self._check_caches(caches)
        past = caches[0].length if caches else 0
        x, key_mask = self._embedded(ids, past, key_mask, caches[0].key_mask if caches else None)
        masks = self._masks(past, x.shape[1], key_mask)
        with growing(caches or ()):
            for i, layer in enumerate(self.layers):
                x = layer(x, **masks, cache=caches[i] if caches is not None else None)
        if caches is not None:
            caches[0].key_mask = key_mask
        return self.output(self.norm(x))

    def _check_caches(self, caches: Any) -> None:
        listed = caches if isinstance(caches, (list, tuple)) else [None]
        kinds = [type(cache).__name__ for cache in listed if not isinstance(cache, nn.KeyValueCache)]
        kinds = kinds if listed is caches else [type(caches).__name__]
        if kinds or len(caches) != len(self.layers):
            raise ArgumentError(
                f"caches must be one for each of the {len(self.layers)} layers, got "
                + (f"{kinds[0]}: pass model.new_caches(); a mask is key_mask=mask" if kinds else f"{len(caches)}")
            )

    def new_caches(self) -> list[nn.KeyValueCache]:
        """Return one empty cache for each layer."""
        return [nn.KeyValueCache() for _ in self.layers]

    def attention_weights(self, ids: TensorLike, *, key_mask: TensorLike | None = None) -> list[Tensor]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection."""
        x, key_mask = self._embedded(ids, 0, key_mask)
        return attention_by_layer(self.layers, x, **self._masks(0, x.shape[1], key_mask))[0]

    def _masks(self, past: int, length: int, key_mask: Any = None) -> nn.masks.Masks:
        """Return the masks of ``length`` tokens after ``past`` tokens in the caches."""
        reach, stop = self.config.sliding_window, past + length
        masks: nn.masks.Masks = {"causal": True}
        places = np.arange(stop)  # of the keys; with a key_mask (batch, 1, stop), beside the axis of the heads
        if key_mask is not None:
            masks["key_mask"], places = key_mask, token_positions(key_mask)[:, None]
        if 0 < reach < stop:
            masks["mask"] = places[..., None, :] > places[..., past:, None] - reach
        if self.config.positions == "alibi":
            # For each query, the place of a key differs from minus their distance by a number that softmax takes out.
            slopes = beside(alibi_slopes(self.config.num_heads).astype(self.embedding.weight.dtype), places)
            masks["bias"] = slopes[:, None, None] * places[..., None, :].astype(slopes.dtype)
        return masks

    def generate(
        self,
        ids: TensorLike,
        count: int,
        *,
        rng: np.random.Generator,
        key_mask: TensorLike | None = None,
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
            key_mask: as in :meth:`forward`, for prompts of different lengths. Each row continues as if it were alone.
            count: the number of tokens to add to each sequence.
            rng: draws the tokens; the same state gives the same tokens.
            temperature, top_k, top_p: as in :func:`nn.sample_tokens`.
            end: the id that closes a sequence. A closed sequence gets only this id; generation stops when all are closed.
            cache: whether to keep keys and values from token to token. False gives the same tokens, but takes longer.

        Yields:
            (batch,) integers on the host, the next token of each sequence. Each is computed when it is requested.

        Raises:
            ShapeError: ``ids`` is not a matrix, or is empty, or ``key_mask`` has another shape.
            DTypeError, OutOfRangeError: ``key_mask`` is neither boolean nor 0/1.
            ArgumentError: a setting is out of its range, or a row of ``key_mask`` has no token.
        """
        ids = id_array(ids, "generate")
        if ids.ndim != 2 or not ids.size:
            raise ShapeError(
                f"generate needs ids of shape (batch, length) with at least one token in each row, got {ids.shape}"
            )
        check_not_negative(count=count, **given(end=end))
        check_kind("True or False", cache=cache)
        if end is not None and not 0 <= end < self.config.vocab_size:
            raise ArgumentError(f"end must be an id of the vocabulary, 0 to {self.config.vocab_size - 1}, got {end}")
        settings: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        nn.token_probabilities(np.zeros(2), **settings)  # checks the settings now, not at the first token
        ids = np.asarray(to_host(ids.data if isinstance(ids, Tensor) else ids))
        is_token = (
            np.ones(ids.shape, bool)
            if key_mask is None
            else as_key_mask(to_host(plain(key_mask, "key_mask")), ids.shape, ids)
        )
        if not is_token.any(axis=1).all():
            row = is_token.any(axis=1).argmin()
            raise ArgumentError(f"generate needs at least one token in each row, and key_mask marks none in row {row}")
        return self._tokens(ids, is_token, count, check_generator(rng), settings, end, cache)

    def _tokens(
        self,
        ids: Array,
        is_token: Array,
        count: int,
        rng: np.random.Generator,
        settings: dict[str, Any],
        end: int | None,
        cache: bool,
    ) -> Iterator[np.ndarray[Any, Any]]:
        window = self.config.window
        order = np.argsort(
            is_token, axis=1, kind="stable"
        )  # all padding goes to the left, where each row can be cut alone
        context = np.take_along_axis(np.where(is_token, ids, 0), order, axis=1)  # the tokens that the model sees
        context, is_token = _cut(context, np.take_along_axis(is_token, order, axis=1), window)
        closed = np.zeros(len(ids), bool)
        caches, new = self.new_caches(), context  # new: the tokens that are not in the caches yet
        for _ in range(count):
            key_mask = None if is_token.all() else is_token
            with no_grad():
                logits = self(new, caches, key_mask=key_mask) if cache else self(context, key_mask=key_mask)
            tokens = nn.sample_tokens(logits[:, -1], rng=rng, **settings)
            if end is not None:
                tokens = np.where(closed, end, tokens)
                closed |= tokens == end
            yield tokens
            if closed.all():
                return
            new = tokens[:, None]
            context, is_token = (
                np.concatenate([t, one], axis=1) for t, one in ((context, new), (is_token, new == new))
            )
            if (full := is_token.sum(axis=1) > window).any():
                context, is_token = _cut(context, is_token, np.where(full, max(window // 2, 1), window))
                caches, new = self.new_caches(), context

    def _embedded(
        self, ids: TensorLike, past: int, key_mask: TensorLike | None, earlier: Any = None
    ) -> tuple[Tensor, Any]:
        """Return the input of the layers, (batch, length, d_model), and the mask of all keys, (batch, past + length), or None.

        ``earlier`` is the mask of the keys in the caches; without a new one, the ids that follow are tokens.
        """
        ids = id_matrix(ids, "GPT")
        length, window = past + ids.shape[1], self.config.window
        if length > window:
            raise ShapeError(
                f"GPT sees at most window={window} tokens, got {length}: keep the last ones, ids[:, -{window}:]"
                + (", with new caches" if past else "")
            )
        weight = array_of(self.embedding.weight)
        mask: Any = as_key_mask(key_mask, (ids.shape[0], length), weight)
        if earlier is not None and len(earlier) != ids.shape[0]:
            pass  # the first layer raises an error, which names its cache
        elif mask is not None:
            if past and not (mask[:, :past] == (True if earlier is None else earlier)).all():
                raise ArgumentError(
                    "key_mask differs from the one with which the caches were filled: it covers their tokens, too, so "
                    "concatenate that mask with the one of the new tokens"
                )
        elif earlier is not None:
            mask = np.concatenate([earlier, np.ones(ids.shape, bool, like=weight)], axis=1)
        x = self.embedding(
            ids if key_mask is None else ids_of_tokens(ids, as_given(key_mask)[:, past:], mask[:, past:])
        )
        return self.dropout(x if self.positions is None else self.positions(x, start=past, key_mask=mask)), mask


def _cut(context: Array, is_token: Array, most: Any) -> tuple[Array, Array]:
    """Keep the last ``most`` tokens of each row, whose padding is on the left, and no column of padding alone."""
    places = is_token[:, ::-1].cumsum(axis=1)[:, ::-1]  # 1 for the last token of a row
    is_token = is_token & (places <= np.reshape(most, (-1, 1)))
    width = is_token.sum(axis=1).max(initial=1)
    return context[:, -width:], is_token[:, -width:]


def alibi_slopes(num_heads: int) -> Array:
    """Return the slope of each head: from 2^(-8/n) to 2^-8 in a geometric sequence, if the number n of heads is a power of 2.

    For another number, the slopes of the next lower power of 2 come first, and then every other one of the next higher power.
    Source: Press et al. 2021, arXiv:2108.12409, section 3 and their published program.
    """
    lower = 2 ** (num_heads.bit_length() - 1)
    between = 2.0 ** (-4 * np.arange(1, 2 * lower, 2) / lower)
    return np.concatenate([2.0 ** (-8 * np.arange(1, lower + 1) / lower), between[: num_heads - lower]])
