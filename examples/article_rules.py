"""The hand-written derivatives of the NumPy article, each an operation of its own, and its network made of them.

The forwards are right. The derivatives are the article's, which are approximations, and the comments say what is missing.
`numpy_article.py` trains with them and holds them to finite differences.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import nn
from minigrad import Tensor, primitive
from models import TwoLayerConfig, TwoLayerTransformer
from nn._checks import beside

Array = np.ndarray[Any, Any]


def _softmax(x: Any, /) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _graph(h: Any, /) -> Any:
    """``softmax(h h^T / sqrt(d))``: how much each token takes from each."""
    return _softmax(h @ np.swapaxes(h, -1, -2) / math.sqrt(h.shape[-1]))


# y_i depends on every x_j: dy_i/dx_j = y_i (1[i = j] - y_j). The article keeps i = j only.
softmax = primitive(_softmax, name="article_softmax").vjp(x=lambda g, ans: g * ans * (1 - ans))

# With s = h h^T: dL/dh = (ds + ds^T) h / sqrt(d). The article takes 2 ds for ds + ds^T, and ds from its softmax rule.
graph = primitive(_graph, name="article_graph").vjp(
    h=lambda g, ans, h: 2 * (g * ans * (1 - ans)) @ h / math.sqrt(h.shape[-1])
)

# The listing as it was published multiplies with the gradient of the weights themselves, not with that of the scores.
graph_as_published = primitive(_graph, name="article_graph_as_published").vjp(
    h=lambda g, h: 2 * g @ h / math.sqrt(h.shape[-1])
)

# out = A h: token j is in every row i with the weight A_ij, so dL/dh = A^T g. The article has A g.
pass_messages = primitive(lambda A, h, /: A @ h, name="article_message_passing").vjp(
    A=lambda g, h: g @ np.swapaxes(h, -1, -2),
    h=lambda g, A: A @ g,
)

# dL/dW = x^T g, with the x of this step. The article's layer keeps the x of its first call, and uses that for ever.
affine = primitive(lambda x, W, b, first_x, /: x @ W + b, name="article_affine").vjp(
    x=lambda g, W: g @ np.swapaxes(W, 0, 1),
    W=lambda g, first_x: np.tensordot(first_x, g, axes=((0, 1), (0, 1))),
    b=lambda g: g,
)


def _softmax_with_loss(z: Any, t: Any, /) -> Any:
    return -np.sum(t * np.log(_softmax(z) + 1e-7))


# The sum over the batch, with the derivative of its mean; and of log(y) instead of log(y + 1e-7).
softmax_with_loss = primitive(_softmax_with_loss, name="article_softmax_with_loss").vjp(
    z=lambda g, z, t: g * (_softmax(z) - t) / len(t)
)


class ArticleAttention(nn.Module):
    """The article's message passing on the graph that the tokens make. It has no masks."""

    def __init__(self, graph: Any = graph) -> None:
        self.graph = graph

    def forward(self, h: Any, *, key_mask: None = None) -> Tensor:
        result: Tensor = pass_messages(self.attention_weights(h), h)
        return result

    def attention_weights(self, h: Any, *, key_mask: None = None) -> Tensor:
        weights: Tensor = self.graph(h)
        return weights


class ArticleAffine(nn.Affine):
    """An Affine that keeps the input of its first call, and differentiates with that."""

    first_x: Array | None = None

    def forward(self, x: Any) -> Tensor:
        if self.first_x is None:
            self.first_x = x.data.copy()
        return affine(x, self.weight, self.bias, self.first_x)


class ArticleTransformer(TwoLayerTransformer):
    """The network of the article with the article's derivatives, and its initial weights: seed 0, W_1 before W_2."""

    def __init__(self, graph: Any = graph) -> None:
        rng = np.random.default_rng(0)  # what it draws is not used
        super().__init__(TwoLayerConfig(2, 2, 2), rng=rng, dtype=np.float64)
        self.attention_1, self.attention_2 = ArticleAttention(graph), ArticleAttention(graph)
        self.affine_1, self.affine_2 = (ArticleAffine(2, 2, rng=rng, dtype=np.float64) for _ in range(2))
        self.softmax = softmax
        set_article_weights(self)

    def loss(self, x: Any, targets: Any, *, key_mask: Any = None, epsilon: float = 1e-7) -> Tensor:
        """The sum over the batch."""
        return softmax_with_loss(self.forward(x), targets)


def set_article_weights(network: TwoLayerTransformer) -> None:
    """``np.random.seed(0)``, then ``W = 0.01 * np.random.randn(2, 2)`` for W_1 and W_2; the biases are zero."""
    state = np.random.RandomState(0)  # what np.random.seed(0) seeds
    for layer in (network.affine_1, network.affine_2):
        layer.weight.data = 0.01 * state.randn(2, 2)


def article_batch() -> tuple[Array, Array]:
    """Two sentences of five tokens, (2, 5, 2), and their classes as one-hot rows, (2, 2).

    All tokens of the first sentence are (-1, 1), all of the second (1, 1).
    """
    x = np.ones((2, 5, 2))
    x[0, :, 0] = -1
    return x, np.eye(2)


def train_as_the_article(network: TwoLayerTransformer, steps: int, *, reset: bool) -> list[tuple[Array, float]]:
    """Gradient descent with learning rate 0.1. The answers y (2, 2) and the loss, before step 1 and after each.

    Args:
        reset: whether the gradients of a step start at zero. In the article they do not: each step adds to the sum of all
            before, as heavy-ball momentum without friction would.
    """
    x, t = (beside(array, network.affine_1.weight.data) for array in article_batch())
    optimizer = nn.SGD(network.parameters(), lr=0.1)
    course = []
    for step in range(steps + 1):
        loss = network.loss(x, t)
        course.append((network.probabilities(x).numpy(), loss.item()))
        if step < steps:
            if reset:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return course
