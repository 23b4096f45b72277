"""Attention with one head: a query takes a weighted mean of values, the more of each the better its key fits.

One implementation, :class:`GlobalAttention`, and thin forms of it that differ in the score and in what they make queries,
keys and values of. :mod:`nn.scores` has the scores, :mod:`nn.local_attention` those that look at a window only, and
:class:`MultiHeadAttention` is the attention of Transformers.
"""

from typing import Any, Unpack

import numpy as np

from minigrad import ShapeError, Tensor
from minigrad.internal import masked_softmax

from . import init
from ._checks import as_input, check_counts, check_positive, check_real
from .affine import Affine
from .masks import Masks, known, mask_and_bias
from .module import Module, Parameter
from .scores import AdditiveScore, DotScore, GeneralScore, Score, make_score, plain_score


class GlobalAttention(Module):
    """``softmax(score(query, key)) value``, the softmax over all keys, and no weights but those of the score.

    "Global" as in Luong et al. 2015, arXiv:1508.04025, section 3.1: every key takes part that a mask does not exclude.

    Args:
        score: "dot", "scaled_dot", "cosine", or a module (a function) that is called with query (batch, query, query_dim)
            and key (batch, key, key_dim) and gives (batch, query, key): :mod:`nn.scores` has some.

    Calling it:
        query: (batch, query, query_dim), or one query for each sequence, (batch, query_dim).
        key: (batch, key, key_dim), by default the queries; value: (batch, key, value_dim), by default the keys.
        key_mask, mask, bias, causal: :class:`nn.masks.Masks`, of scores (batch, query, key).

        The result is (batch, query, value_dim), or (batch, value_dim) for one query. A query with no key to attend to
        gets zeros.

    Raises:
        ArgumentError: no score has this name.
        ShapeError: inputs, scores or masks do not fit together.
        DTypeError: mask is not boolean, key_mask is floating, bias is boolean, or the inputs are not floating.
        OutOfRangeError: an integer key_mask has other values than 0 and 1.
        UnsupportedError: there is no option of this name.

    Example:
        >>> import nn
        >>> attention = nn.GlobalAttention()
        >>> query, key, value = [[[9.0, 0.0]]], [[[9.0, 0.0], [0.0, 9.0]]], [[[10.0], [20.0]]]
        >>> attention(query, key, value).tolist()  # the value of the key that fits
        [[[10.0]]]
        >>> attention(query, key, value, key_mask=[[False, True]]).tolist()  # of the one that is left
        [[[20.0]]]
    """

    def __init__(self, score: str | Score = "dot") -> None:
        self.score = plain_score(score)

    def forward(self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]) -> Tensor:
        q, k, v = self._project(*self._inputs(query, key, value))
        context = self._weights(q, k, **masks) @ v  # (batch, query, value_dim)
        return context if q.ndim == 3 else context[:, 0]

    def with_weights(
        self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """What the call gives and :meth:`attention_weights`, from one pass: the weights are those that made the result."""
        q, k, v = self._project(*self._inputs(query, key, value))
        weights = self._weights(q, k, **masks)
        context = weights @ v
        return (context, weights) if q.ndim == 3 else (context[:, 0], weights[:, 0])

    def attention_weights(self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]) -> Tensor:
        """How much each query takes of each value: (batch, query, key), or (batch, key) for one query.

        Rows sum to 1, or to 0 where every key is masked.
        """
        q, k, _ = self._project(*self._inputs(query, key, value))
        weights = self._weights(q, k, **masks)
        return weights if q.ndim == 3 else weights[:, 0]

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the score and the mean are taken of."""
        return query, key, value

    def _weights(self, query: Tensor, key: Tensor, **masks: Unpack[Masks]) -> Tensor:
        """(batch, query, key)"""
        scores = self._scores(query, key)
        return masked_softmax(scores, *mask_and_bias(scores.shape, scores, masks))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        query = query if query.ndim == 3 else query[:, None]
        scores = self.score(query, key)
        expected = (*query.shape[:2], key.shape[1])
        if scores.shape != expected:
            raise ShapeError(f"the score must give the shape (batch, query, key) = {expected}, got {scores.shape}")
        return scores

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        name = type(self).__name__
        dtype = next((parameter.dtype for parameter in self.parameters()), None)
        query = check_real(query, name) if dtype is None else as_input(query, dtype, name)
        key = query if key is None else as_input(key, query.dtype, name)
        value = key if value is None else as_input(value, query.dtype, name)
        if query.ndim not in (2, 3) or key.ndim != 3 or value.ndim != 3:
            raise ShapeError(
                f"{name} needs query (batch, query, width) or (batch, width), key and value (batch, key, width): got query "
                f"{query.shape}, key {key.shape}, value {value.shape}"
            )
        check_counts(name, query.shape, key.shape, value.shape)
        return query, key, value


class DotProductAttention(GlobalAttention):
    """``softmax(query key^T) value``, and with ``scale=True`` ``softmax(query key^T / sqrt(d)) value``.

    Without weights. Luong et al. 2015, arXiv:1508.04025, section 3.1, "dot"; scaled, Vaswani et al. 2017,
    arXiv:1706.03762, eq. 1. Called as :class:`GlobalAttention`, whose errors it raises, with queries and keys of one width.

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
    """``softmax(v . tanh(query W + key U + b)) value``, for queries and keys of different widths.

    Bahdanau et al. 2014, arXiv:1409.0473, section 3.1 and appendix A.1.2. Called as :class:`GlobalAttention`, whose
    errors it raises; there may be as many queries and keys as one likes. ``hidden_dim`` is the width inside, key_dim by
    default; see :class:`AdditiveScore`.

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
        dtype: Any = np.float32,
    ) -> None:
        super().__init__(AdditiveScore(query_dim, key_dim, hidden_dim, rng=rng, bias=bias, dtype=dtype))


class MultiplicativeAttention(GlobalAttention):
    """``softmax((query W) key^T) value``, with ``bias=True`` ``softmax((query W + b) key^T) value``.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "general". Called as :class:`GlobalAttention`, whose errors it
    raises; see :class:`GeneralScore`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.MultiplicativeAttention(4, 6, rng=np.random.default_rng(0))
        >>> query, key = np.ones((2, 4)), np.ones((2, 5, 6))  # one query for each sequence
        >>> attention(query, key).shape, attention.attention_weights(query, key).shape
        ((2, 6), (2, 5))
    """

    def __init__(
        self, query_dim: int, key_dim: int, *, rng: np.random.Generator, bias: bool = False, dtype: Any = np.float32
    ) -> None:
        super().__init__(GeneralScore(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype))


class Attention(GlobalAttention):
    """``softmax(score(q, k)) v`` of affine images: ``q = query W_q + b_q``, ``k = key W_k + b_k``, ``v = value W_v + b_v``.

    Args:
        query_dim, key_dim: the widths of queries and keys; q and k have the width key_dim.
        value_dim: the width of v, and so of the result.
        rng: draws the weights.
        score: "dot", "scaled_dot", "cosine", "general", "biased_general", "additive", or a module that is called with q
            and k and gives (batch, query, key). The dot product is not scaled unless one asks for it.
        bias: whether there are b_q, b_k and b_v.

    Called as :class:`GlobalAttention`. The values may be (batch, key, key_dim), as by default, where they are the keys, and
    become v; or (batch, key, value_dim), and are v as they come. (If the two widths are one, W_v is used.) What is raised is as
    there. With ``score="scaled_dot"``: Vaswani et al. 2017, arXiv:1706.03762, section 3.2, with one head.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.Attention(4, 6, 8, rng=np.random.default_rng(0))
        >>> query, key = np.ones((2, 3, 4)), np.ones((2, 5, 6))  # the keys are the values, too
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
        dtype: Any = np.float32,
    ) -> None:
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
    """:class:`Attention` of a sequence to itself: x (batch, length, d_model) -> (batch, length, value_dim).

    ``q = x W_q + b_q`` and ``k = x W_k + b_k`` have the width hidden_dim, which is d_model unless it is given, and so has
    ``v = x W_v + b_v`` unless ``value_dim`` is given. Masks, bias, scores and what is raised are the same; the dot
    product is not scaled unless ``score="scaled_dot"``.

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
        dtype: Any = np.float32,
    ) -> None:
        hidden_dim = d_model if hidden_dim is None else hidden_dim
        value_dim = hidden_dim if value_dim is None else value_dim
        self.query, self.key, self.value = (
            Affine(d_model, width, rng=rng, bias=bias, dtype=dtype) for width in (hidden_dim, hidden_dim, value_dim)
        )
        self.score = make_score(score, hidden_dim, hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: Any, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]  # there is one input
        return super().forward(x, **known(masks))


class KeyValueAttention(GlobalAttention):
    """Attention over states that are split: the first key_dim numbers are the key, the other value_dim the value.

    ``h_t = [k_t, v_t]``, and state t takes ``sum_s softmax_s(score(k_t, k_s)) v_s``: what finds a state need not be what it
    has to say. Daniluk et al. 2017, arXiv:1702.04521, section 2.2 (who let state t see the few before it).

    Called as :class:`GlobalAttention`, with states (batch, length, key_dim + value_dim) for query and key; of the queries the
    key part is used. The result is (batch, query, value_dim), and what is raised is as there.

    Args:
        score: as in :class:`Attention`; additive in the paper.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.KeyValueAttention(3, 2, rng=np.random.default_rng(0))
        >>> attention(np.ones((1, 4, 3 + 2)), causal=True).shape  # the values alone
        (1, 4, 2)
    """

    def __init__(
        self,
        key_dim: int,
        value_dim: int,
        *,
        rng: np.random.Generator,
        score: str | Score = "additive",
        dtype: Any = np.float32,
    ) -> None:
        check_positive(value_dim=value_dim)
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
    """One vector for a sequence, its tokens weighted by how important a learned query u finds them.

    ``softmax(u . tanh(x W + b))`` are the weights of the mean over x. Yang et al. 2016, "Hierarchical Attention Networks for
    Document Classification" (NAACL), eq. 5 to 7. W and b are ``hidden.weight`` and ``hidden.bias``, u is ``query``.

    Called with x (batch, length, input_dim) and ``key_mask``, ``mask`` and ``bias`` as in :class:`GlobalAttention` (there is
    one query) -> (batch, input_dim); ``attention_weights`` gives (batch, length). What is raised is as there.

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
        self, input_dim: int, hidden_dim: int | None = None, *, rng: np.random.Generator, dtype: Any = np.float32
    ) -> None:
        hidden_dim = input_dim if hidden_dim is None else hidden_dim
        self.hidden = Affine(input_dim, hidden_dim, rng=rng, dtype=dtype)
        self.query = Parameter(init.normal((hidden_dim,), hidden_dim**-0.5, rng=rng, dtype=dtype))
        self.score = DotScore()

    def forward(  # type: ignore[override]  # there is one input
        self, x: Any, *, key_mask: Any = None, mask: Any = None, bias: Any = None
    ) -> Tensor:
        return super().forward(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def attention_weights(  # type: ignore[override]  # there is one input
        self, x: Any, *, key_mask: Any = None, mask: Any = None, bias: Any = None
    ) -> Tensor:
        """How much the result takes of each token: (batch, length)."""
        return super().attention_weights(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def with_weights(  # type: ignore[override]  # there is one input
        self, x: Any, *, key_mask: Any = None, mask: Any = None, bias: Any = None
    ) -> tuple[Tensor, Tensor]:
        """The vectors (batch, input_dim) and the weights (batch, length) that made them."""
        return super().with_weights(self._queries(x), x, key_mask=key_mask, mask=mask, bias=bias)

    def _queries(self, x: Any) -> Tensor:
        """u for each sequence: (batch, hidden_dim)."""
        x = as_input(x, self.query.dtype, "ContextAttention")
        if x.ndim != 3:
            raise ShapeError(f"ContextAttention needs x of shape (batch, length, input_dim), got {x.shape}")
        queries: Any = np.broadcast_to(self.query, (x.shape[0], *self.query.shape))
        return queries

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys: Any = np.tanh(self.hidden(key))
        return query, keys, value
