"""Attention as a graph: the tokens are its vertices, and the weights say how much of each goes to each."""

from typing import Any, Unpack

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import masked_softmax

from ._checks import as_input, beside, check_real
from .masks import Masks, known, mask_and_bias
from .module import Module
from .scores import Score, plain_score


class MessagePassing(Module):
    """``A h``: each token gets the sum of what all tokens hold, weighted with its row of the adjacency matrix A.

    A is given, or computed from the tokens: ``A = softmax(score(h, h))``, and then this is self-attention without any
    weights. The propagation of a graph network (Gilmer et al. 2017, arXiv:1704.01212), the graph being complete.

    Args:
        score: of the computed A, "scaled_dot" (``h h^T / sqrt(d)``), "dot", "cosine" or a module, see :mod:`nn.scores`.

    Calling it:
        h: (batch, length, d), floating; or the d columns of one graph, (length, d).
        adjacency: (length, length), for all alike, or (batch, length, length). Entry [i, j] is the weight of the edge
            from token j to token i; the rows need not sum to 1. Booleans and integers count as 0 and 1.
            By default it is computed.
        key_mask, mask, bias, causal: :class:`nn.masks.Masks`, of edges (batch, target, source). A computed A is normalised
            over what the masks leave; a given one just gets zeros elsewhere, and takes no bias.

        The result has the shape of h. A token without any edge gets zeros.

    Raises:
        ShapeError: the shapes do not fit together.
        DTypeError: h is not floating; or as in :class:`GlobalAttention`.
        ArgumentError: there are both an adjacency and a bias.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> h = [[1.0], [2.0], [4.0]]  # three tokens of width 1
        >>> edges = np.array([[False, True, True], [True, False, False], [False, False, False]])
        >>> nn.MessagePassing()(h, edges).tolist()  # the first gets 2 + 4
        [[6.0], [1.0], [0.0]]
    """

    def __init__(self, score: str | Score = "scaled_dot") -> None:
        self.score = plain_score(score)

    def forward(self, h: Any, adjacency: Any = None, **masks: Unpack[Masks]) -> Tensor:
        return self.with_weights(h, adjacency, **masks)[0]

    def with_weights(self, h: Any, adjacency: Any = None, **masks: Unpack[Masks]) -> tuple[Tensor, Tensor]:
        """``A h``, and the A that made it."""
        h = check_real(h, type(self).__name__)
        weights = self.attention_weights(h, adjacency, **masks)
        return weights @ h, weights

    def attention_weights(self, h: Any, adjacency: Any = None, **masks: Unpack[Masks]) -> Tensor:
        """A, after the masks: (batch, length, length), or (length, length) where h has two axes."""
        h = check_real(h, type(self).__name__)
        if h.ndim not in (2, 3):
            raise ShapeError(f"{type(self).__name__} needs h of shape (batch, length, d) or (length, d), got {h.shape}")
        batch = h if h.ndim == 3 else h[None]
        shape = (batch.shape[0], batch.shape[1], batch.shape[1])
        if adjacency is not None and masks.get("bias") is not None:
            raise ArgumentError("bias is added to scores, and a given adjacency has none: add it to the adjacency")
        allowed, bias = mask_and_bias(shape, h, masks)
        if adjacency is None:
            weights = masked_softmax(self.score(batch, batch), allowed, bias)
        else:
            given = np.broadcast_to(_adjacency(adjacency, h), shape)
            weights = given if allowed is None else np.where(allowed, given, 0.0)
        return weights if h.ndim == 3 else weights[0]


class SimplifiedAttention(MessagePassing):
    """``softmax(h h^T / sqrt(d)) h``: attention without weights, the tokens being queries, keys and values at once.

    :class:`MessagePassing` on the graph that the tokens themselves make; h (batch, length, d) -> the same.
    ``attention_weights(h)`` is the softmax. Masks, bias and what is raised as in :class:`GlobalAttention`. Vaswani et al. 2017,
    arXiv:1706.03762, eq. 1, with h for all three.

    Example:
        >>> import nn
        >>> attention = nn.SimplifiedAttention()
        >>> h = [[[9.0, 0.0], [0.0, 9.0], [0.0, 9.0]]]
        >>> attention.attention_weights(h).numpy().round(2)  # each token looks at those like itself
        array([[[1. , 0. , 0. ],
                [0. , 0.5, 0.5],
                [0. , 0.5, 0.5]]])
    """

    def __init__(self) -> None:
        super().__init__("scaled_dot")

    def forward(self, h: Any, **masks: Unpack[Masks]) -> Tensor:  # type: ignore[override]  # the graph is its own
        return super().forward(h, **known(masks))


def _adjacency(adjacency: Any, h: Tensor) -> Tensor:
    """The given matrix beside h, in its dtype."""
    adjacency = adjacency if isinstance(adjacency, Tensor) else Tensor(beside(adjacency, h.data), copy=False)
    length = h.shape[-2]
    fitting = [(length, length)] + [(h.shape[0], length, length)] * (h.ndim == 3)
    if adjacency.shape not in fitting:
        raise ShapeError(f"adjacency must have the shape {' or '.join(map(str, fitting))}, got {adjacency.shape}")
    return as_input(adjacency, h.dtype, "MessagePassing")
