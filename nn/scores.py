"""Scores: modules that measure how well each query matches each key.

A score maps query (batch, query, query_dim) and key (batch, key, key_dim) to (batch, query, key): ``query_dim`` and
``key_dim`` are the widths of what it compares.
:class:`GlobalAttention` turns it into weights with a softmax over the keys.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import dot_products

from ._checks import check_interval, check_positive, given, shown
from .affine import Affine
from .distances import unit
from .module import DType, Module

Score = Callable[[Tensor, Tensor], Tensor]


class DotScore(Module):
    """The dot product ``q . k``, or ``q . k / sqrt(d)`` with ``scale=True``; d is the width of queries and keys.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "dot". The scale keeps the scores of wide vectors from saturating the
    softmax: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1. A number as ``scale`` is the factor itself.

    Shapes: query (batch, query, d), key (batch, key, d) -> (batch, query, key).

    Raises:
        ShapeError: queries and keys have different widths.

    Example:
        >>> import nn
        >>> from minigrad import Tensor
        >>> query, key = Tensor([[[1.0, 2.0]]]), Tensor([[[3.0, 4.0], [0.0, 1.0]]])
        >>> nn.DotScore()(query, key).tolist()
        [[[11.0, 2.0]]]
    """

    def __init__(self, scale: bool | float = False) -> None:
        is_factor = not isinstance(scale, (bool, np.bool_))
        check_interval(-np.inf, np.inf, scale=scale if is_factor else 1)
        self.scale = float(scale) if is_factor else bool(scale)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        _check_same_width(query, key, "a dot product")
        scores: Any = dot_products(query, key)  # (batch, query, key)
        return scores * self._factor(query.shape[-1]) if self.scale is not False else scores

    def _factor(self, width: int) -> float:
        """Return the factor of the dot products of vectors of this width."""
        if isinstance(self.scale, float):
            return self.scale
        return 1 / math.sqrt(width) if self.scale else 1.0

    def extra_repr(self) -> str:
        return f"scale={self.scale}"


class CosineScore(Module):
    """The cosine ``q . k / (|q| |k|)``, in [-1, 1]. It is 0, with a gradient of 0, if q or k is zero.

    Graves et al. 2014, arXiv:1410.5401, section 3.3.1.

    Shapes: query (batch, query, d), key (batch, key, d) -> (batch, query, key).

    Raises:
        ShapeError: queries and keys have different widths.

    Example:
        >>> import nn
        >>> from minigrad import Tensor
        >>> query, key = Tensor([[[2.0, 0.0]]]), Tensor([[[9.0, 0.0], [1.0, 1.0], [0.0, 5.0]]])
        >>> nn.CosineScore()(query, key).numpy().round(2)  # it depends only on the directions
        array([[[1.  , 0.71, 0.  ]]])
    """

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        _check_same_width(query, key, "a cosine")
        return dot_products(unit(query), unit(key))  # (batch, query, key)


class GeneralScore(Module):
    """The multiplicative score ``(q W) . k``, "general" in Luong et al. 2015, arXiv:1508.04025, section 3.1.

    With ``bias=True`` it is ``(q W + b) . k``, as in Sordoni et al. 2016, arXiv:1606.02245. The term ``b . k`` prefers some
    keys independently of the query. W is ``query.weight`` (query_dim, key_dim).

    Shapes: query (batch, query, query_dim), key (batch, key, key_dim) -> (batch, query, key).

    Raises:
        ShapeError: the width of query is not query_dim, or the width of key is not key_dim.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> score = nn.GeneralScore(4, 6, rng=np.random.default_rng(0))
        >>> score(np.ones((2, 3, 4)), np.ones((2, 5, 6))).shape
        (2, 3, 5)
    """

    def __init__(
        self, query_dim: int, key_dim: int, *, rng: np.random.Generator, bias: bool = False, dtype: "DType" = np.float32
    ) -> None:
        check_positive(query_dim=query_dim, key_dim=key_dim)
        self.query = Affine(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        width = self.query.weight.shape[1]
        if key.shape[-1] != width:
            raise ShapeError(f"the score needs key of shape (batch, length, {width}), got {key.shape}")
        return dot_products(self.query(query), key)  # (batch, query, key)


class AdditiveScore(Module):
    """The additive score ``v . tanh(q W + k U + b)``.

    Bahdanau et al. 2014, arXiv:1409.0473, appendix A.1.2; "concat" in Luong et al. 2015. ``query.weight`` is W,
    ``key.weight`` and ``key.bias`` are U and b, ``output.weight`` is v.

    Args:
        query_dim, key_dim: the widths of the queries and of the keys.
        hidden_dim: the width of v; key_dim by default.
        bias: whether to add b.

    Shapes: query (batch, query, query_dim), key (batch, key, key_dim) -> (batch, query, key).

    Raises:
        ShapeError: the width of query is not query_dim, or the width of key is not key_dim.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> score = nn.AdditiveScore(4, 6, 8, rng=np.random.default_rng(0))
        >>> score(np.ones((2, 3, 4)), np.ones((2, 5, 6))).shape
        (2, 3, 5)
        >>> [(path, p.shape) for path, p in score.named_parameters()]
        [('query.weight', (4, 8)), ('key.weight', (6, 8)), ('key.bias', (8,)), ('output.weight', (8, 1))]
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        hidden_dim: int | None = None,
        *,
        rng: np.random.Generator,
        bias: bool = True,
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(query_dim=query_dim, key_dim=key_dim, **given(hidden_dim=hidden_dim))
        hidden_dim = key_dim if hidden_dim is None else hidden_dim
        self.query = Affine(query_dim, hidden_dim, rng=rng, bias=False, dtype=dtype)
        self.key = Affine(key_dim, hidden_dim, rng=rng, bias=bias, dtype=dtype)
        self.output = Affine(hidden_dim, 1, rng=rng, bias=False, dtype=dtype)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        q, k = self.query(query), self.key(key)  # (batch, query or key, hidden_dim)
        hidden = np.tanh(q[:, :, None] + k[:, None])  # (batch, query, key, hidden_dim)
        return self.output(hidden)[..., 0]  # (batch, query, key)


PLAIN: dict[str, Callable[[], Score]] = {
    "dot": DotScore,
    "scaled_dot": partial(DotScore, scale=True),
    "cosine": CosineScore,
}
WITH_WEIGHTS: dict[str, Callable[..., Score]] = {
    "general": GeneralScore,
    "biased_general": partial(GeneralScore, bias=True),
    "additive": AdditiveScore,
}
NAMES = (*PLAIN, *WITH_WEIGHTS)


def make_score(score: str | Score, query_dim: int, key_dim: int, *, rng: np.random.Generator, dtype: "DType") -> Score:
    """Return the score of this name, or ``score`` itself if it is a module or a function. ``rng`` draws its weights.

    Raises:
        ArgumentError: no score has this name.
    """
    check_positive(query_dim=query_dim, key_dim=key_dim)
    if isinstance(score, str) and score in WITH_WEIGHTS:
        return WITH_WEIGHTS[score](query_dim, key_dim, rng=rng, dtype=dtype)
    return plain_score(score, NAMES)


def plain_score(score: str | Score, names: Sequence[str] = tuple(PLAIN)) -> Score:
    """Return the score of this name if it has no weights, or ``score`` itself if it is a module or a function.

    Raises:
        ArgumentError: no score without weights has this name.
    """
    if not isinstance(score, str) and callable(score):
        return score
    if isinstance(score, str) and score in PLAIN:
        return PLAIN[score]()
    if isinstance(score, str) and score in WITH_WEIGHTS:
        raise ArgumentError(
            f"score={score!r} has weights: pass the module, such as GeneralScore(query_dim, key_dim, rng=rng)"
        )
    raise ArgumentError(
        f"score must be one of {', '.join(map(repr, names))}, a module or a function, got {shown(score)}"
    )


def _check_same_width(query: Tensor, key: Tensor, what: str) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ShapeError(
            f"{what} needs queries and keys of the same width, got query {query.shape} and key {key.shape}: the general "
            "and additive scores accept different widths"
        )
