"""Local attention: each query looks at a window of the keys."""

from typing import Any, Unpack

import numpy as np

from minigrad import ShapeError, Tensor, sigmoid
from minigrad.internal import masked_softmax

from ._checks import beside, check_positive
from .affine import Affine
from .attention import GlobalAttention
from .masks import Masks, mask_and_bias, window_mask
from .scores import Score, plain_score


class LocalAttention(GlobalAttention):
    """:class:`GlobalAttention` in which query t sees the keys at the places t - radius to t + radius only.

    "Local-m" of Luong et al. 2015, arXiv:1508.04025, section 3.2: the window lies around the query's own place, p_t = t,
    counted from the first of each, and ends where the sequence ends. The softmax is over the 2 radius + 1 keys in it; a query
    whose window lies past the last key gets zeros.

    Args:
        radius: D in the paper, at least 1.
        score: as in :class:`GlobalAttention`.

    Called as that too, with queries (batch, query, query_dim): of a single one the place would not be known.

    Raises:
        ArgumentError: radius is no positive integer, or no score has this name.
        ShapeError: there is a single query, or, if causal, there are not as many queries as keys.

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
        self.radius = radius
        self.score = plain_score(score)

    def _weights(self, query: Tensor, key: Tensor, **masks: Unpack[Masks]) -> Tensor:
        if query.ndim == 2 or (masks.get("causal") and query.shape[1] != key.shape[1]):
            raise ShapeError(
                "LocalAttention needs queries of shape (batch, query, width), as many as keys if causal: got query "
                f"{query.shape}, key {key.shape}"
            )
        scores = self._scores(query, key)
        _, queries, keys = scores.shape
        window = beside(window_mask(max(queries, keys), self.radius)[:queries, :keys], scores.data)
        allowed, bias = mask_and_bias(scores.shape, scores, masks)
        return masked_softmax(scores, window if allowed is None else window & allowed, bias)

    def extra_repr(self) -> str:
        return f"{self.radius}"


class PredictiveLocalAttention(GlobalAttention):
    """Local attention that predicts where to look: a window around ``p_t = S sigmoid(v . tanh(query_t W))``.

    "Local-p" of Luong et al. 2015, arXiv:1508.04025, eq. 9 and 10. The softmax over the keys at the places
    ``|s - p_t| <= radius`` is multiplied by ``exp(-(s - p_t)^2 / (2 sigma^2))`` with sigma = radius / 2, so that p_t gets a
    gradient; the weights then sum to less than 1. S is the number of keys that the masks leave the query, which therefore
    are to be the first S. W is ``place.weight``, v is ``output.weight``.

    Args:
        query_dim: the width of the queries.
        radius: D in the paper, at least 1.
        hidden_dim: the width inside, query_dim by default.
        score: as in :class:`GlobalAttention`.

    Called as that too, and raises what that does.

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
        dtype: Any = np.float32,
    ) -> None:
        check_positive(radius=radius)
        hidden_dim = query_dim if hidden_dim is None else hidden_dim
        self.radius = radius
        self.place = Affine(query_dim, hidden_dim, rng=rng, bias=False, dtype=dtype)
        self.output = Affine(hidden_dim, 1, rng=rng, bias=False, dtype=dtype)
        self.score = plain_score(score)

    def _weights(self, query: Tensor, key: Tensor, **masks: Unpack[Masks]) -> Tensor:
        scores = self._scores(query, key)
        allowed, bias = mask_and_bias(scores.shape, scores, masks)
        queries = query if query.ndim == 3 else query[:, None]
        length = key.shape[1] if allowed is None else allowed.sum(axis=-1, keepdims=True).astype(scores.dtype)
        centre = sigmoid(self.output(np.tanh(self.place(queries)))) * length  # (batch, query, 1)
        distance = beside(np.arange(key.shape[1], dtype=scores.dtype), scores.data) - centre  # (batch, query, key)
        window = abs(distance.data) <= self.radius
        weights: Tensor = masked_softmax(scores, window if allowed is None else window & allowed, bias)
        return weights * np.exp(distance * distance * (-2 / self.radius**2))

    def extra_repr(self) -> str:
        return f"{self.place.weight.shape[0]}, {self.radius}"
