"""Attention as a graph: the tokens are the vertices, and the attention weights are the weights of the edges."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike, masked_softmax, weighted_sum

from ._checks import as_input, beside, check_real, plain
from .masks import Masks, known, mask_and_bias, without_unseen
from .module import Module
from .scores import Score, plain_score


class MessagePassing(Module):
    """Message passing ``A h``: the result for token i is the sum over all tokens j of ``A[i, j] h[j]``.

    The caller passes the adjacency matrix A, or the layer computes ``A = softmax(score(h, h))``, which is self-attention
    without parameters. This is the propagation of a graph network (Gilmer et al. 2017, arXiv:1704.01212) on a complete graph.

    Args:
        score: the score of a computed A, "scaled_dot" (``h h^T / sqrt(d)``), "dot", "cosine" or a module of :mod:`nn.scores`.

    Calling it:
        h: (batch, length, d), or (length, d) for one graph; floating.
        adjacency: A (batch, length, length), or (length, length) for all graphs. ``A[i, j]`` is the weight of the edge
            from token j to token i; rows need not sum to 1. Booleans and integers are cast to h's dtype. Computed by default.
        key_mask, mask, bias, causal: see :class:`nn.masks.Masks`; the scores are (batch, target, source). A computed A is a
            softmax over the edges that the masks allow. If you pass A, the masks set the edges that they exclude to 0, and
            bias must be None.

        The result has the shape of h. It is 0 for a token without incoming edges.

    Raises:
        ShapeError: the shapes do not fit together.
        DTypeError: h is not floating, or the dtype of a mask or the bias is wrong, as in :class:`GlobalAttention`.
        ArgumentError: both an adjacency and a bias are passed.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> h = [[1.0], [2.0], [4.0]]  # three tokens of width 1
        >>> edges = np.array([[False, True, True], [True, False, False], [False, False, False]])
        >>> nn.MessagePassing()(h, edges).tolist()  # the first result is 2 + 4
        [[6.0], [1.0], [0.0]]
    """

    def __init__(self, score: str | Score = "scaled_dot") -> None:
        self.score = plain_score(score)

    def forward(self, h: TensorLike, adjacency: TensorLike | None = None, **masks: Unpack[Masks]) -> Tensor:
        return self.with_weights(h, adjacency, **masks)[0]

    def with_weights(
        self, h: TensorLike, adjacency: TensorLike | None = None, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """Return ``A h`` and A, both from one pass."""
        h = check_real(h, type(self).__name__, "h")
        weights = self.attention_weights(h, adjacency, **masks)
        passed: Tensor = weighted_sum(weights, h)
        return passed, weights

    def attention_weights(self, h: TensorLike, adjacency: TensorLike | None = None, **masks: Unpack[Masks]) -> Tensor:
        """Return A after the masks: (batch, length, length), or (length, length) if h has two axes."""
        h = check_real(h, type(self).__name__, "h")
        if h.ndim not in (2, 3):
            raise ShapeError(f"{type(self).__name__} needs h of shape (batch, length, d) or (length, d), got {h.shape}")
        batch = h if h.ndim == 3 else h[None]
        shape = (batch.shape[0], batch.shape[1], batch.shape[1])
        if adjacency is not None and masks.get("bias") is not None:
            raise ArgumentError("bias is added to scores, which an adjacency matrix replaces: add it to the adjacency")
        allowed, bias = mask_and_bias(shape, h, masks)
        if adjacency is None:
            batch, _, _ = without_unseen((batch, batch, batch), 3, allowed, bias)
            weights = masked_softmax(self.score(batch, batch), allowed, bias)
        else:
            edges = np.broadcast_to(_adjacency(adjacency, h), shape)
            weights = edges if allowed is None else np.where(allowed, edges, 0.0)
        return weights if h.ndim == 3 else weights[0]


class SimplifiedAttention(MessagePassing):
    """Self-attention without parameters, ``softmax(h h^T / sqrt(d)) h``: the tokens are the queries, keys and values.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1, with Q = K = V = h (batch, length, d). ``attention_weights(h)`` returns the
    softmax. Masks, bias and errors are those of :class:`GlobalAttention`.

    Example:
        >>> import nn
        >>> attention = nn.SimplifiedAttention()
        >>> h = [[[9.0, 0.0], [0.0, 9.0], [0.0, 9.0]]]
        >>> attention.attention_weights(h).numpy().round(2)  # each token attends to those like itself
        array([[[1. , 0. , 0. ],
                [0. , 0.5, 0.5],
                [0. , 0.5, 0.5]]])
    """

    def __init__(self) -> None:
        super().__init__("scaled_dot")

    def forward(self, h: TensorLike, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]  # takes no adjacency
        return super().forward(h, **known(masks))


def _adjacency(adjacency: TensorLike, h: Tensor) -> Tensor:
    """Return the adjacency as a Tensor on the device and in the dtype of h."""
    if not isinstance(adjacency, Tensor):
        adjacency = Tensor(beside(plain(adjacency, "adjacency"), h.data), copy=False)
    length = h.shape[-2]
    fitting = [(length, length)] + [(h.shape[0], length, length)] * (h.ndim == 3)
    if adjacency.shape not in fitting:
        raise ShapeError(f"adjacency must have the shape {' or '.join(map(str, fitting))}, got {adjacency.shape}")
    return as_input(adjacency, h.dtype, "MessagePassing", "adjacency")
