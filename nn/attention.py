"""Attention with one head: the result for a query is a mean of the values, weighted by how well their keys match the query.

:class:`GlobalAttention` implements it. The other classes differ in the score and in the maps that compute queries, keys and
values. :mod:`nn.scores` contains the scores, and :mod:`nn.local_attention` the layers that see only a window. In all of them,
and in :class:`MultiHeadAttention`, ``key_dim`` is the width of the keys that the score compares with the queries.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from minigrad import ShapeError, Tensor
from minigrad.internal import TensorLike, masked_softmax, weighted_sum

from . import init
from ._checks import as_input, check_counts, check_positive, check_real, given
from .affine import Affine
from .masks import Masks, known, mask_and_bias, may_read, without_unseen
from .module import DType, Module, Parameter
from .scores import AdditiveScore, DotScore, GeneralScore, Score, make_score, plain_score


class GlobalAttention(Module):
    """Attention over all keys, ``softmax(score(query, key)) value``. Only the score can have parameters.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, call it global: every key that no mask excludes takes part.

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

    def forward(
        self, query: TensorLike, key: TensorLike | None = None, value: TensorLike | None = None, **masks: Unpack[Masks]
    ) -> Tensor:
        q, k, v = self._project(*self._inputs(query, key, value, masks))
        context: Tensor = weighted_sum(self._weights(q, k, **masks), v)  # (batch, query, value_dim)
        return context if q.ndim == 3 else context[:, 0]

    def with_weights(
        self, query: TensorLike, key: TensorLike | None = None, value: TensorLike | None = None, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """Return the result of the call and its :meth:`attention_weights`, both from one pass."""
        q, k, v = self._project(*self._inputs(query, key, value, masks))
        weights = self._weights(q, k, **masks)
        context: Tensor = weighted_sum(weights, v)
        return (context, weights) if q.ndim == 3 else (context[:, 0], weights[:, 0])

    def attention_weights(
        self, query: TensorLike, key: TensorLike | None = None, value: TensorLike | None = None, **masks: Unpack[Masks]
    ) -> Tensor:
        """Return the weights (batch, query, key) or (batch, key), whose rows sum to 1, or to 0 if every key is masked."""
        q, k, _ = self._project(*self._inputs(query, key, value, masks))
        weights = self._weights(q, k, **masks)
        return weights if q.ndim == 3 else weights[:, 0]

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the queries, keys and values that the score and the mean use. Subclasses override it."""
        return query, key, value

    def _weights(self, query: Tensor, key: Tensor, **masks: Unpack[Masks]) -> Tensor:
        """Return the attention weights (batch, query, key)."""
        scores = self._scores(query, key)
        return masked_softmax(scores, *mask_and_bias(scores.shape, scores, masks))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        query = query if query.ndim == 3 else query[:, None]
        scores = self.score(query, key)
        expected = (*query.shape[:2], key.shape[1])
        if scores.shape != expected:
            raise ShapeError(f"the score must give the shape (batch, query, key) = {expected}, got {scores.shape}")
        return scores

    def _inputs(
        self, query: TensorLike, key: TensorLike | None, value: TensorLike | None, masks: Masks
    ) -> tuple[Tensor, Tensor, Tensor]:
        name, own = type(self).__name__, key is None or key is query
        dtype = next((parameter.dtype for parameter in self.parameters()), None)
        query = check_real(query, name, "query") if dtype is None else as_input(query, dtype, name, "query")
        key = query if key is None or own else as_input(key, query.dtype, name, "key")
        value = key if value is None else as_input(value, query.dtype, name, "value")
        if query.ndim not in (2, 3) or key.ndim != 3 or value.ndim != 3:
            raise ShapeError(
                f"{name} needs query (batch, query, width) or (batch, width), key and value (batch, key, width): got query "
                f"{query.shape}, key {key.shape}, value {value.shape}"
            )
        check_counts(name, query.shape, key.shape, value.shape)
        if not masks or may_read(key, value):
            return query, key, value
        shape = len(key), 1 if query.ndim == 2 else query.shape[1], key.shape[1]
        return without_unseen((query, key, value), 3, *mask_and_bias(shape, query, masks))


class DotProductAttention(GlobalAttention):
    """Attention with dot products, ``softmax(query key^T) value``. There are no parameters.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "dot". With ``scale=True`` it is ``softmax(query key^T / sqrt(d)) value``,
    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. Queries and keys have the same width d. The call and the errors are those of
    :class:`GlobalAttention`.

    Example:
        >>> import nn
        >>> query, key = [[[2.0, 0.0, 0.0, 0.0]]], [[[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]
        >>> nn.DotProductAttention().attention_weights(query, key).numpy().round(2)
        array([[[0.98, 0.02]]])
        >>> nn.DotProductAttention(scale=True).attention_weights(query, key).numpy().round(2)
        array([[[0.88, 0.12]]])
    """

    def __init__(self, scale: bool = False) -> None:
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

    The call and the errors are those of :class:`GlobalAttention`, with one addition. Values of width key_dim, such as the keys,
    are mapped to v. Values of width value_dim are used as v directly. If both widths are equal, the values are mapped.

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
        dtype: DType = np.float32,
    ) -> None:
        check_positive(query_dim=query_dim, key_dim=key_dim, value_dim=value_dim)
        self.query = Affine(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(key_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(key_dim, value_dim, rng=rng, bias=bias, dtype=dtype)
        self.score = make_score(score, key_dim, key_dim, rng=rng, dtype=dtype)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        key_dim, value_dim = self.value.weight.shape
        for name, x, widths in (
            ("query", query, (self.query.weight.shape[0],)),
            ("key", key, (key_dim,)),
            ("value", value, (key_dim, value_dim)),
        ):
            if x.shape[-1] not in widths:
                raise ShapeError(
                    f"{type(self).__name__} needs {name} of width {' or '.join(map(str, widths))}, got {x.shape}"
                )
        is_projected = value.shape[-1] != key_dim
        return self.query(query), self.key(key), value if is_projected else self.value(value)


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

    def forward(  # type: ignore[override]  # there is one input
        self,
        x: TensorLike,
        *,
        key_mask: TensorLike | None = None,
        mask: TensorLike | None = None,
        bias: TensorLike | None = None,
    ) -> Tensor:
        return super().forward(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def attention_weights(  # type: ignore[override]  # there is one input
        self, x: TensorLike, *, key_mask: TensorLike | None = None, mask: TensorLike | None = None, bias: Any = None
    ) -> Tensor:
        """Return the weight of each token in the result: (batch, length)."""
        return super().attention_weights(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def with_weights(  # type: ignore[override]  # there is one input
        self, x: TensorLike, *, key_mask: TensorLike | None = None, mask: TensorLike | None = None, bias: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Return the result of the call, (batch, input_dim), and its weights (batch, length), both from one pass."""
        return super().with_weights(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def _queries(self, x: TensorLike) -> Tensor:
        """Return u once per sequence: (batch, hidden_dim)."""
        x = as_input(x, self.query.dtype, "ContextAttention")
        if x.ndim != 3:
            raise ShapeError(f"ContextAttention needs x of shape (batch, length, input_dim), got {x.shape}")
        queries: Any = np.broadcast_to(self.query, (x.shape[0], *self.query.shape))
        return queries

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys: Any = np.tanh(self.hidden(key))
        return query, keys, value
