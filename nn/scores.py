"""Scores: how well each query goes with each key.

A score is a module that is called with query (batch, query, query_dim) and key (batch, key, key_dim) and gives
(batch, query, key). The softmax over the keys makes weights of it, see :class:`GlobalAttention`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor

from ._checks import check_positive
from .affine import Affine
from .module import Module

Score = Callable[[Tensor, Tensor], Tensor]


class DotScore(Module):
    """``q . k``, and with ``scale=True`` ``q . k / sqrt(d)`` of the d numbers in each.

    Luong et al. 2015, arXiv:1508.04025, section 3.1, "dot"; scaled, so that scores of wide vectors do not saturate the
    softmax, Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.

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

    def __init__(self, scale: bool = False) -> None:
        self.scale = scale

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        _check_same_width(query, key, "a dot product")
        scores = query @ key.swapaxes(-1, -2)  # (batch, query, key)
        return scores * (1 / math.sqrt(query.shape[-1])) if self.scale else scores

    def extra_repr(self) -> str:
        return f"scale={self.scale}"


class CosineScore(Module):
    """``q . k / (|q| |k|)``, in [-1, 1]; a vector of zeros has the cosine 0 with everything.

    Graves et al. 2014, arXiv:1410.5401, section 3.3.1. (``1e-12`` is added under the roots.)

    Shapes: query (batch, query, d), key (batch, key, d) -> (batch, query, key).

    Raises:
        ShapeError: queries and keys have different widths.

    Example:
        >>> import nn
        >>> from minigrad import Tensor
        >>> query, key = Tensor([[[2.0, 0.0]]]), Tensor([[[9.0, 0.0], [1.0, 1.0], [0.0, 5.0]]])
        >>> nn.CosineScore()(query, key).numpy().round(2)  # the direction counts, and no length
        array([[[1.  , 0.71, 0.  ]]])
    """

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        _check_same_width(query, key, "a cosine")
        return _unit(query) @ _unit(key).swapaxes(-1, -2)  # (batch, query, key)


class GeneralScore(Module):
    """``(q W) . k``, "general" of Luong et al. 2015, arXiv:1508.04025, section 3.1, or multiplicative attention.

    With ``bias=True`` it is ``(q W + b) . k``, as in Sordoni et al. 2016, arXiv:1606.02245: some keys are
    sought then whatever the query is. W is ``query.weight``, of shape (query_dim, key_dim).

    Shapes: query (batch, query, query_dim), key (batch, key, key_dim) -> (batch, query, key).

    Raises:
        ShapeError: queries or keys have another width.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> score = nn.GeneralScore(4, 6, rng=np.random.default_rng(0))
        >>> score(np.ones((2, 3, 4)), np.ones((2, 5, 6))).shape
        (2, 3, 5)
    """

    def __init__(
        self, query_dim: int, key_dim: int, *, rng: np.random.Generator, bias: bool = False, dtype: Any = np.float32
    ) -> None:
        self.query = Affine(query_dim, key_dim, rng=rng, bias=bias, dtype=dtype)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        _check_width(key, self.query.weight.shape[1], "key")
        return self.query(query) @ key.swapaxes(-1, -2)  # (batch, query, key)


class AdditiveScore(Module):
    """``v . tanh(q W + k U + b)`` with vectors of width ``hidden_dim`` inside.

    Bahdanau et al. 2014, arXiv:1409.0473, appendix A.1.2; "concat" in Luong et al. 2015. Every query meets every key, so
    there may be as many of each as one likes. ``query.weight`` is W, ``key.weight`` and ``key.bias`` are U and b,
    ``output.weight`` is v.

    Args:
        hidden_dim: key_dim by default.
        bias: whether there is a b.

    Shapes: query (batch, query, query_dim), key (batch, key, key_dim) -> (batch, query, key).

    Raises:
        ShapeError: queries or keys have another width.

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
        dtype: Any = np.float32,
    ) -> None:
        hidden_dim = key_dim if hidden_dim is None else hidden_dim
        self.query = Affine(query_dim, hidden_dim, rng=rng, bias=False, dtype=dtype)
        self.key = Affine(key_dim, hidden_dim, rng=rng, bias=bias, dtype=dtype)
        self.output = Affine(hidden_dim, 1, rng=rng, bias=False, dtype=dtype)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        q, k = self.query(query), self.key(key)  # (batch, query or key, hidden_dim)
        hidden = np.tanh(q[:, :, None] + k[:, None])  # (batch, query, key, hidden_dim)
        return self.output(hidden)[..., 0]  # (batch, query, key)


NAMES = ("dot", "scaled_dot", "cosine", "general", "biased_general", "additive")


def make_score(score: str | Score, query_dim: int, key_dim: int, *, rng: np.random.Generator, dtype: Any) -> Score:
    """The score of this name, or ``score`` itself if it is a module (or a function).

    "dot" and "scaled_dot" are :class:`DotScore`, "cosine" is :class:`CosineScore`, "general" and "biased_general" are
    :class:`GeneralScore`, "additive" is :class:`AdditiveScore`. ``rng`` draws their weights.

    Raises:
        ArgumentError: no score has this name.
    """
    check_positive(query_dim=query_dim, key_dim=key_dim)
    if score in ("general", "biased_general"):
        return GeneralScore(query_dim, key_dim, rng=rng, bias=score == "biased_general", dtype=dtype)
    if score == "additive":
        return AdditiveScore(query_dim, key_dim, rng=rng, dtype=dtype)
    return plain_score(score)


def plain_score(score: str | Score) -> Score:
    """As :func:`make_score`, for the scores that have no weights.

    Raises:
        ArgumentError: no such score has this name.
    """
    if score in ("dot", "scaled_dot"):
        return DotScore(scale=score == "scaled_dot")
    if score == "cosine":
        return CosineScore()
    if score in NAMES:
        raise ArgumentError(
            f"score={score!r} has weights: give the module, such as GeneralScore(query_dim, key_dim, rng=rng)"
        )
    if isinstance(score, str) or not callable(score):
        raise ArgumentError(f"score must be one of {', '.join(map(repr, NAMES))}, or a module, got {score!r}")
    return score


def _unit(x: Tensor) -> Any:
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-12)


def _check_width(x: Tensor, width: int, name: str) -> None:
    if x.shape[-1] != width:
        raise ShapeError(f"the score needs {name} of shape (batch, length, {width}), got {x.shape}")


def _check_same_width(query: Tensor, key: Tensor, what: str) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ShapeError(
            f"{what} needs queries and keys of one width, got query {query.shape} and key {key.shape}: the general and "
            "additive scores take two widths"
        )
