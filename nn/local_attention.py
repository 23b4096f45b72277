"""Local attention: each query attends only to a window of the keys."""

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor, sigmoid
from minigrad.internal import masked_softmax

from ._checks import beside, check_positive, given
from .affine import Affine
from .attention import GlobalAttention
from .masks import AttentionOptions, is_causal, token_positions, window_mask
from .module import DType
from .scores import Score, plain_score


class LocalAttention(GlobalAttention):
    """Attention in which query t attends only to the keys at positions t - radius to t + radius.

    This is "local-m" in Luong et al. 2015, arXiv:1508.04025, section 3.2, whose window is centred at p_t = t. The first query
    and the first key have position 0, and the window is cut off at the ends of the sequence. If no key lies in the window of
    a query, its result is 0.

    Args:
        radius: D in the paper, at least 1.
        score: as in :class:`GlobalAttention`.

    The call and the errors are those of :class:`GlobalAttention`, except that queries must be (batch, query, query_dim).

    Raises:
        ArgumentError: radius is not a positive integer, or no score has this name.
        ShapeError: the query is (batch, query_dim), or causal is set and there are not as many queries as keys.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> weights = nn.LocalAttention(radius=1).attention_weights(np.ones((1, 4, 2)))
        >>> weights.numpy().round(2)
        array([[[0.5 , 0.5 , 0.  , 0.  ],
                [0.33, 0.33, 0.33, 0.  ],
                [0.  , 0.33, 0.33, 0.33],
                [0.  , 0.  , 0.5 , 0.5 ]]])
    """

    def __init__(self, radius: int, score: str | Score = "dot") -> None:
        check_positive(radius=radius)
        self.radius = int(radius)
        self.score = plain_score(score)

    def _masks(self, query: Tensor, key: Tensor, options: AttentionOptions) -> tuple[Any, Any]:
        if query.ndim == 2 or (is_causal(options) and query.shape[1] != key.shape[1]):
            raise ShapeError(
                "LocalAttention needs query (batch, query, width), and as many queries as keys if causal: got query "
                f"{query.shape}, key {key.shape}"
            )
        queries, keys = query.shape[1], key.shape[1]
        window = beside(window_mask(max(queries, keys), self.radius)[:queries, :keys], query.data)
        mask, bias = super()._masks(query, key, options)
        return window if mask is None else window & mask, bias

    def extra_repr(self) -> str:
        return f"{self.radius}"


class PredictiveLocalAttention(GlobalAttention):
    """Local attention that predicts the centre of each window, ``p_t = S sigmoid(v . tanh(query_t W))``.

    This is "local-p" in Luong et al. 2015, arXiv:1508.04025, eq. 9 and 10. The weights are the softmax over the keys at
    positions s with ``|s - p_t| <= radius``, times ``exp(-(s - p_t)^2 / (2 sigma^2))`` with sigma = radius / 2. The second
    factor gives p_t a gradient, and it makes the sum of the weights less than 1. S is the number of keys that the masks
    allow, and positions count these keys. W is ``place.weight`` and v is ``output.weight``.

    Args:
        query_dim: the width of the queries.
        radius: D in the paper, at least 1.
        hidden_dim: the width of v; query_dim by default.
        score: as in :class:`GlobalAttention`.

    The call and the errors are those of :class:`GlobalAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.PredictiveLocalAttention(4, radius=2, rng=np.random.default_rng(0))
        >>> attention.output.weight.data[:] = 0  # so that p_t = S sigmoid(0) is the middle
        >>> attention.attention_weights(np.ones((1, 4)), np.ones((1, 8, 4))).numpy().round(2)
        array([[0.  , 0.  , 0.03, 0.12, 0.2 , 0.12, 0.03, 0.  ]], dtype=float32)
    """

    def __init__(
        self,
        query_dim: int,
        radius: int,
        hidden_dim: int | None = None,
        *,
        rng: np.random.Generator,
        score: str | Score = "dot",
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(query_dim=query_dim, radius=radius, **given(hidden_dim=hidden_dim))
        hidden_dim = query_dim if hidden_dim is None else hidden_dim
        self.radius = int(radius)
        self.place = Affine(query_dim, hidden_dim, rng=rng, bias=False, dtype=dtype)
        self.output = Affine(hidden_dim, 1, rng=rng, bias=False, dtype=dtype)
        self.score = plain_score(score)

    def _context(self, q: Tensor, k: Tensor, v: Tensor, mask: Any, bias: Any) -> Tensor:
        return self._mean(self._weights(q, k, mask, bias), v)  # these weights are more than a softmax of the scores

    def _weights(self, q: Tensor, k: Tensor, mask: Any, bias: Any) -> Tensor:
        scores = self._scores(q, k)
        queries = q if q.ndim == 3 else q[:, None]
        length = k.shape[1] if mask is None else mask.sum(axis=-1, keepdims=True).astype(scores.dtype)
        centre = sigmoid(self.output(np.tanh(self.place(queries)))) * length  # (batch, query, 1)
        places = beside(np.arange(k.shape[1]), scores.data) if mask is None else token_positions(mask)
        distance = places.astype(scores.dtype) - centre  # (batch, query, key)
        window = abs(distance.data) <= self.radius
        weights: Tensor = masked_softmax(scores, window if mask is None else window & mask, bias)
        return weights * np.exp(distance * distance * (-2 / self.radius**2))

    def extra_repr(self) -> str:
        return f"{self.place.weight.shape[0]}, {self.radius}"
