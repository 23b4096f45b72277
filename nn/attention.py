"""Attention: the result for a query is a mean of the values, weighted by how well their keys match the query.

Each attention is a score, maps that make queries, keys and values of the inputs, and a mask. :class:`AttentionLayer` computes
weights and means of these parts, and the other classes here choose them, with one head. :mod:`nn.scores` contains the scores,
:mod:`nn.local_attention` the layers that see only a window, and :mod:`nn.multi_head` those with several heads. In all of them
``key_dim`` is the width of the keys that the score compares with the queries.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from minigrad import ShapeError, Tensor, scaled_dot_product_attention
from minigrad.internal import TensorLike, masked_softmax, weighted_sum

from . import init
from ._checks import as_input, check_counts, check_interval, check_kind, check_positive, check_real, given
from .affine import Affine
from .masks import AttentionOptions, Masks, for_heads, known, mask_and_bias, without_unseen
from .module import DType, Module, Parameter
from .scores import AdditiveScore, DotScore, GeneralScore, Score, make_score, plain_score

Read = tuple[Tensor, Tensor, Tensor, Any, Any]  # queries, keys, values, and the mask and the bias of their scores


class AttentionLayer(Module):
    """What every attention computes: ``weights = softmax(score(q, k) + bias)`` over the keys of a mask, and ``weights @ v``.

    :meth:`with_weights` is these two steps. The call gives the same result, and may compute both at once. A subclass defines
    ``_read``, which makes q, k, v and the mask of the inputs, and ``_scores``.
    """

    def forward(
        self,
        query: TensorLike,
        key: TensorLike | None = None,
        value: TensorLike | None = None,
        **options: Unpack[AttentionOptions],
    ) -> Tensor:
        q, k, v, mask, bias = self._read(query, key, value, options)
        return self._joined(self._context(q, k, v, mask, bias), q)

    def with_weights(
        self,
        query: TensorLike,
        key: TensorLike | None = None,
        value: TensorLike | None = None,
        **options: Unpack[AttentionOptions],
    ) -> tuple[Tensor, Tensor]:
        """Return the result of the call and its :meth:`attention_weights`, before dropout, from one pass that stores all."""
        q, k, v, mask, bias = self._read(query, key, value, options)
        weights = self._weights(q, k, mask, bias)  # (batch, [heads,] query, key)
        context = self._mean(weights, v)  # (batch, query, width)
        return self._joined(context, q), self._shown(weights, q)

    def attention_weights(
        self,
        query: TensorLike,
        key: TensorLike | None = None,
        value: TensorLike | None = None,
        **options: Unpack[AttentionOptions],
    ) -> Tensor:
        """Return the weights in the shape of the scores. Each row sums to 1, or to 0 if every key is masked.

        A cache is only read. To see the weights of new tokens, use this before the call that appends these tokens.
        """
        q, k, _, mask, bias = self._read(query, key, value, options, grow=False)
        return self._shown(self._weights(q, k, mask, bias), q)

    def _read(self, query: Any, key: Any, value: Any, options: AttentionOptions, grow: bool = True) -> Read:
        """Check the inputs. Return the queries, keys and values that the score and the mean use, with the mask and the bias.

        ``grow`` is whether a cache gets the new keys and values.
        """
        raise NotImplementedError

    def _scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Return the scores (batch, [heads,] query, key)."""
        raise NotImplementedError

    def _weights(self, q: Tensor, k: Tensor, mask: Any, bias: Any) -> Tensor:
        """Return the attention weights, in the shape of the scores."""
        found: Tensor = masked_softmax(self._scores(q, k), mask, bias)
        return found

    def _mean(self, weights: Tensor, v: Tensor) -> Tensor:
        """Return the mean of the values for each query."""
        found: Tensor = weighted_sum(weights, v)
        return found

    def _context(self, q: Tensor, k: Tensor, v: Tensor, mask: Any, bias: Any) -> Tensor:
        """Return the mean of the values for each query, in the fastest way."""
        return self._mean(self._weights(q, k, mask, bias), v)

    def _joined(self, context: Tensor, q: Tensor) -> Tensor:
        """Return the result, computed from the means; q has no axis of queries if there is one query per sequence."""
        return context if q.ndim == 3 else context[:, 0]

    def _shown(self, weights: Tensor, q: Tensor) -> Tensor:
        """Return the weights in the shape that the user gets."""
        return weights if q.ndim == 3 else weights[:, 0]

    def _tensors(
        self, query: TensorLike, key: TensorLike | None, value: TensorLike | None, dtype: np.dtype[Any] | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inputs in one dtype. By default the key is the query and the value is the key, as the same object."""
        name = type(self).__name__
        key = query if key is None else key
        value = key if value is None else value
        q = check_real(query, name, "query") if dtype is None else as_input(query, dtype, name, "query")
        k = q if key is query else as_input(key, q.dtype, name, "key")
        v = k if value is key else as_input(value, q.dtype, name, "value")
        return q, k, v


class GlobalAttention(AttentionLayer):
    """Attention over all keys, ``softmax(score(query, key)) value``. Only the score can have parameters.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, call it global: every key that no mask excludes takes part. With a dot
    product as the score, the call is one operation, which stores no weights; :meth:`with_weights` computes step by step.

    Args:
        score: "dot", "scaled_dot", "cosine", or a module or function that maps query (batch, query, query_dim) and key
            (batch, key, key_dim) to scores (batch, query, key); see :mod:`nn.scores`.

    Calling it:
        query: (batch, query, query_dim), or (batch, query_dim) for one query per sequence.
        key: (batch, key, key_dim); the query by default.
        value: (batch, key, value_dim); the key by default.
        key_mask, mask, bias, causal: see :class:`nn.masks.Masks`; the scores are (batch, query, key).

        The result is (batch, query, value_dim), or (batch, value_dim) for one query per sequence. It is 0 for a query whose
        keys are all masked.

    Raises:
        ArgumentError: no score has this name.
        ShapeError: inputs, scores or masks do not fit together.
        DTypeError: mask is not boolean, key_mask is floating, bias is boolean, or the inputs are not floating.
        OutOfRangeError: an integer key_mask contains values other than 0 and 1.
        UnsupportedError: a keyword is none of the options of :class:`nn.masks.Masks`.

    Example:
        >>> import nn
        >>> attention = nn.GlobalAttention()
        >>> query, key, value = [[[9.0, 0.0]]], [[[9.0, 0.0], [0.0, 9.0]]], [[[10.0], [20.0]]]
        >>> attention(query, key, value).tolist()  # the value of the matching key
        [[[10.0]]]
        >>> attention(query, key, value, key_mask=[[False, True]]).tolist()  # the value of the other key
        [[[20.0]]]
    """

    def __init__(self, score: str | Score = "dot") -> None:
        self.score = plain_score(score)

    def _read(self, query: Any, key: Any, value: Any, options: AttentionOptions, grow: bool = True) -> Read:
        name = type(self).__name__
        q, k, v = self._tensors(query, key, value, self._dtype())
        shapes = q.shape, k.shape, v.shape
        if len(shapes[0]) not in (2, 3) or len(shapes[1]) != 3 or len(shapes[2]) != 3:
            raise ShapeError(
                f"{name} needs query (batch, query, width) or (batch, width), key and value (batch, key, width): got query "
                f"{shapes[0]}, key {shapes[1]}, value {shapes[2]}"
            )
        check_counts(name, *shapes)
        mask, bias = self._masks(q, k, options)
        inputs = (q, k, v) if mask is bias is None else without_unseen((q, k, v), 3, mask, bias)
        return *self._project(*inputs), mask, bias

    def _dtype(self) -> np.dtype[Any] | None:
        """Return the dtype of the parameters, or None if there are none."""
        return next((parameter.dtype for parameter in self.parameters()), None)

    def _masks(self, query: Tensor, key: Tensor, options: AttentionOptions) -> tuple[Any, Any]:
        """Return the mask and the bias of the scores (batch, query, key)."""
        if not options:
            return None, None
        return mask_and_bias((len(key), 1 if query.ndim == 2 else query.shape[1], key.shape[1]), query, options)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the queries, keys and values that the score and the mean use. Subclasses override it."""
        return query, key, value

    def _scores(self, q: Tensor, k: Tensor) -> Tensor:
        q = q if q.ndim == 3 else q[:, None]
        scores = self.score(q, k)
        expected = (*q.shape[:2], k.shape[1])
        if scores.shape != expected:
            raise ShapeError(f"the score must give the shape (batch, query, key) = {expected}, got {scores.shape}")
        return scores

    def _context(self, q: Tensor, k: Tensor, v: Tensor, mask: Any, bias: Any) -> Tensor:
        if type(self.score) is not DotScore or q.ndim == 2 or q.shape[2] != k.shape[2]:
            return super()._context(q, k, v, mask, bias)
        scale = self.score._factor(q.shape[2])
        return scaled_dot_product_attention(q, k, v, for_heads(mask), for_heads(bias), scale=scale)


class DotProductAttention(GlobalAttention):
    """Attention with dot products, ``softmax(query key^T) value``. There are no parameters.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "dot". With ``scale=True`` it is ``softmax(query key^T / sqrt(d)) value``,
    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. A number as ``scale`` is the factor itself. Queries and keys have the same
    width d. The call and the errors are those of :class:`GlobalAttention`.

    Example:
        >>> import nn
        >>> query, key = [[[2.0, 0.0, 0.0, 0.0]]], [[[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]
        >>> nn.DotProductAttention().attention_weights(query, key).numpy().round(2)
        array([[[0.98, 0.02]]])
        >>> nn.DotProductAttention(scale=True).attention_weights(query, key).numpy().round(2)
        array([[[0.88, 0.12]]])
    """

    def __init__(self, scale: bool | float = False) -> None:
        super().__init__(DotScore(scale))


class AdditiveAttention(GlobalAttention):
    """Additive attention, ``softmax(v . tanh(query W + key U + b)) value``, for queries and keys of any widths.

    Bahdanau et al. 2014, arXiv:1409.0473, section 3.1 and appendix A.1.2. :class:`AdditiveScore` describes the arguments.
    The call and the errors are those of :class:`GlobalAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.AdditiveAttention(4, 6, rng=np.random.default_rng(0))
        >>> query, key = np.ones((2, 3, 4)), np.ones((2, 5, 6))  # of different widths
        >>> attention(query, key).shape, attention.attention_weights(query, key).shape
        ((2, 3, 6), (2, 3, 5))
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        hidden_dim: int | None = None,
        *,
        rng: np.random.Generator,
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        super().__init__(AdditiveScore(query_dim, key_dim, hidden_dim, rng=rng, bias=bias, dtype=dtype))


class MultiplicativeAttention(GlobalAttention):
    """Multiplicative attention, ``softmax((query W) key^T) value``, or ``(query W + b)`` with ``bias=True``.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "general". :class:`GeneralScore` describes the arguments. The call and
    the errors are those of :class:`GlobalAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.MultiplicativeAttention(4, 6, rng=np.random.default_rng(0))
        >>> query, key = np.ones((2, 4)), np.ones((2, 5, 6))  # one query per sequence
        >>> attention(query, key).shape, attention.attention_weights(query, key).shape
        ((2, 6), (2, 5))
    """

    def __init__(
        self, query_dim: int, key_dim: int, *, rng: np.random.Generator, bias: bool = False, dtype: DType = np.float32
    ) -> None:
        super().__init__(GeneralScore(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype))


class Attention(GlobalAttention):
    """Attention with learned maps: ``softmax(score(q, k)) v`` with ``q = query W_q + b_q`` and k, v computed the same way.

    With ``score="scaled_dot"`` it is the attention of Vaswani et al. 2017, arXiv:1706.03762, section 3.2, with one head.

    Args:
        query_dim: the width of the query inputs.
        key_dim: the width of q and k, and of the key inputs.
        value_dim: the width of v and of the result.
        rng: the generator that draws the weights.
        score: "dot", "scaled_dot", "cosine", "general", "biased_general", "additive", or a module or function that maps q
            and k to scores (batch, query, key). "dot" does not scale the dot products.
        bias: whether to add b_q, b_k and b_v.
        map_values: whether the value inputs, of width key_dim such as the keys, are mapped to v. If not, they are v, of width
            value_dim, and the layer has no map of values.

    The call and the errors are those of :class:`GlobalAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.Attention(4, 6, 8, rng=np.random.default_rng(0))
        >>> query, key = np.ones((2, 3, 4)), np.ones((2, 5, 6))  # the keys are also the values
        >>> attention(query, key).shape, attention.attention_weights(query, key).shape
        ((2, 3, 8), (2, 3, 5))
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        value_dim: int,
        *,
        rng: np.random.Generator,
        score: str | Score = "dot",
        bias: bool = True,
        map_values: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        check_positive(query_dim=query_dim, key_dim=key_dim, value_dim=value_dim)
        check_kind("True or False", map_values=map_values)
        self.value_dim = value_dim
        self.query = Affine(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(key_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(key_dim, value_dim, rng=rng, bias=bias, dtype=dtype) if map_values else None
        self.score = make_score(score, key_dim, key_dim, rng=rng, dtype=dtype)

    def _dtype(self) -> np.dtype[Any]:
        return self.query.weight.dtype

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        for name, x, layer in (("query", query, self.query), ("key", key, self.key), ("value", value, self.value)):
            width, result = (self.value_dim, 0) if layer is None else layer.weight.shape
            if x.shape[-1] != width:
                as_they_are = ": map_values=False takes values of this width as they are"
                remedy = as_they_are if name == "value" and x.shape[-1] == result else ""
                raise ShapeError(f"{type(self).__name__} needs {name} of width {width}, got {x.shape}{remedy}")
        return self.query(query), self.key(key), value if self.value is None else self.value(value)


class AttentionHead(Attention):
    """One head of attention, ``softmax(q k^T / sqrt(key_dim)) v`` with ``q = query W_q + b_q`` and k, v computed the same way.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. It is one head of :class:`MultiHeadAttention`, without the output map.

    Args:
        d_model: the width of the query inputs.
        key_dim: the width of the head's queries and keys.
        value_dim: the width of its values; key_dim by default.
        rng: the generator that draws the weights.
        context_dim: the width of the key and value inputs; d_model by default.
        bias: whether the three maps have biases.
        scale: the factor of the scores, 1 / sqrt(key_dim) by default; 1.0 leaves the dot products unscaled.

    The call and the errors are those of :class:`GlobalAttention`. The result is (batch, query, value_dim).

    Example:
        >>> import numpy as np
        >>> import nn
        >>> head = nn.AttentionHead(8, 4, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 2, 8))
        >>> head(x).shape
        (1, 2, 4)
        >>> head.attention_weights(x, causal=True).numpy().round(2)  # the first token sees only itself
        array([[[1. , 0. ],
                [0.5, 0.5]]], dtype=float32)
    """

    value: Affine  # it always maps

    def __init__(
        self,
        d_model: int,
        key_dim: int,
        value_dim: int | None = None,
        *,
        rng: np.random.Generator,
        context_dim: int | None = None,
        bias: bool = True,
        scale: float | None = None,
        dtype: DType = np.float32,
    ) -> None:
        check_interval(-np.inf, np.inf, **given(scale=scale))
        context_dim = d_model if context_dim is None else context_dim
        value_dim = key_dim if value_dim is None else value_dim
        check_positive(d_model=d_model, key_dim=key_dim, value_dim=value_dim, context_dim=context_dim)
        self.query = Affine(d_model, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(context_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(context_dim, value_dim, rng=rng, bias=bias, dtype=dtype)
        self.score = DotScore(True if scale is None else scale)

    def extra_repr(self) -> str:
        (d_model, key_dim), value_dim = self.query.weight.shape, self.value.weight.shape[1]
        return f"{d_model}, {key_dim}" + (f", {value_dim}" if value_dim != key_dim else "")


class SelfAttention(Attention):
    """An :class:`Attention` layer from a sequence to itself: x (batch, length, d_model) -> (batch, length, value_dim).

    ``q = x W_q + b_q`` and ``k = x W_k + b_k`` have the width ``hidden_dim``, by default d_model. ``v = x W_v + b_v`` has the
    width ``value_dim``, by default hidden_dim. Scores, masks, bias and errors are those of :class:`Attention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.SelfAttention(8, 4, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 3, 8))
        >>> attention(x).shape
        (1, 3, 4)
        >>> attention.attention_weights(x, causal=True).numpy().round(2)
        array([[[1.  , 0.  , 0.  ],
                [0.5 , 0.5 , 0.  ],
                [0.33, 0.33, 0.33]]], dtype=float32)
    """

    value: Affine  # it always maps

    def __init__(
        self,
        d_model: int,
        hidden_dim: int | None = None,
        *,
        rng: np.random.Generator,
        value_dim: int | None = None,
        score: str | Score = "dot",
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        check_positive(d_model=d_model, **given(hidden_dim=hidden_dim, value_dim=value_dim))
        hidden_dim = d_model if hidden_dim is None else hidden_dim
        value_dim = hidden_dim if value_dim is None else value_dim
        self.query, self.key, self.value = (
            Affine(d_model, width, rng=rng, bias=bias, dtype=dtype) for width in (hidden_dim, hidden_dim, value_dim)
        )
        self.score = make_score(score, hidden_dim, hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: TensorLike, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]  # there is one input
        return super().forward(x, **known(masks))


class KeyValueAttention(GlobalAttention):
    """Attention over states ``h_t = [k_t, v_t]``: the first key_dim columns are the key, the other value_dim the value.

    The result for state t is ``sum_s softmax_s(score(k_t, k_s)) v_s``. Daniluk et al. 2017, arXiv:1702.04521, section
    2.2, where state t sees only a few states before it.

    Args:
        key_dim, value_dim: the widths of the key part and of the value part of a state.
        score: as in :class:`Attention`; additive in the paper.

    The call and the errors are those of :class:`GlobalAttention`. Queries and keys are states (batch, length, key_dim +
    value_dim); only the key part of a query is used. The result is (batch, query, value_dim).

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.KeyValueAttention(3, 2, rng=np.random.default_rng(0))
        >>> attention(np.ones((1, 4, 3 + 2)), causal=True).shape  # the width of the values
        (1, 4, 2)
    """

    def __init__(
        self,
        key_dim: int,
        value_dim: int,
        *,
        rng: np.random.Generator,
        score: str | Score = "additive",
        dtype: DType = np.float32,
    ) -> None:
        check_positive(key_dim=key_dim, value_dim=value_dim)
        self.key_dim, self.value_dim = key_dim, value_dim
        self.score = make_score(score, key_dim, key_dim, rng=rng, dtype=dtype)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        width = self.key_dim + self.value_dim
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.shape[-1] != width:
                raise ShapeError(
                    f"KeyValueAttention needs {name} of width key_dim + value_dim = {width}, got {x.shape}"
                )
        return query[..., : self.key_dim], key[..., : self.key_dim], value[..., self.key_dim :]

    def extra_repr(self) -> str:
        return f"{self.key_dim}, {self.value_dim}"


class ContextAttention(GlobalAttention):
    """A mean over the tokens of a sequence with the weights ``softmax(u . tanh(x W + b))`` and a learned query u.

    Yang et al. 2016, "Hierarchical Attention Networks for Document Classification" (NAACL), eq. 5 to 7. W and b are
    ``hidden.weight`` and ``hidden.bias``, u is ``query``.

    Calling it: x (batch, length, input_dim) -> (batch, input_dim), with ``key_mask``, ``mask`` and ``bias`` for scores
    (batch, 1, length). The errors are those of :class:`GlobalAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.ContextAttention(8, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 3, 8))
        >>> attention(x).shape
        (1, 8)
        >>> attention.attention_weights(x, key_mask=[[True, True, False]]).numpy().round(2)
        array([[0.5, 0.5, 0. ]], dtype=float32)
    """

    def __init__(
        self, input_dim: int, hidden_dim: int | None = None, *, rng: np.random.Generator, dtype: DType = np.float32
    ) -> None:
        check_positive(input_dim=input_dim, **given(hidden_dim=hidden_dim))
        hidden_dim = input_dim if hidden_dim is None else hidden_dim
        self.hidden = Affine(input_dim, hidden_dim, rng=rng, dtype=dtype)
        self.query = Parameter(init.normal((hidden_dim,), hidden_dim**-0.5, rng=rng, dtype=dtype))
        self.score = DotScore()

    def forward(self, x: TensorLike, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]  # there is one input
        return super().forward(x, **known(masks))

    def with_weights(  # type: ignore[override]
        self, x: TensorLike, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """Return the result of the call, (batch, input_dim), and its weights (batch, length), both from one pass."""
        return super().with_weights(x, **known(masks))

    def attention_weights(self, x: TensorLike, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]
        """Return the weight of each token in the result: (batch, length)."""
        return super().attention_weights(x, **known(masks))

    def _read(self, query: Any, key: Any, value: Any, options: AttentionOptions, grow: bool = True) -> Read:
        x = as_input(query, self.query.dtype, "ContextAttention")
        if x.ndim != 3:
            raise ShapeError(f"ContextAttention needs x of shape (batch, length, input_dim), got {x.shape}")
        queries = np.broadcast_to(self.query, (x.shape[0], *self.query.shape))  # u once per sequence
        return super()._read(queries, x, x, options)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys: Any = np.tanh(self.hidden(key))
        return query, keys, value
