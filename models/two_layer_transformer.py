"""TwoLayerTransformer: two simplified attention layers, small enough to differentiate by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ShapeError, Tensor, softmax
from minigrad.internal import TensorLike
from nn._checks import as_given, as_tensor, beside, check_interval

from ._config import Config, check_fields
from ._model import Model, check_model


@dataclass(frozen=True)
class TwoLayerConfig(Config):
    """The sizes of a :class:`TwoLayerTransformer`.

    Attributes:
        input_size: the width of a token.
        hidden_size: the width between the two layers.
        output_size: the number of classes.
        std: the standard deviation of the initial weights; biases start at zero.

    Example:
        >>> import models
        >>> models.TwoLayerConfig(input_size=4, hidden_size=8, output_size=3).to_dict()
        {'input_size': 4, 'hidden_size': 8, 'output_size': 3, 'std': 0.01}
    """

    input_size: int
    hidden_size: int
    output_size: int
    std: float = 0.01

    def __post_init__(self) -> None:
        check_fields(self)
        check_interval(0, np.inf, std=self.std)


class TwoLayerTransformer(Model):
    """A network of two simplified attention layers with an Affine each, a softmax between them, and a sum over the tokens::

        h = softmax(attention(x) W_1 + b_1)                        (batch, length, hidden_size)
        z = sum over tokens of (attention(h) W_2 + b_2)            (batch, output_size)
        y = softmax(z)                                             the result of `probabilities`

    with ``attention(u) = softmax(u u^T / sqrt(d)) u`` for u of width d. This attention has no weights. Training changes h, and
    with it the tokens that the second layer attends to. `examples/numpy_article.py` reproduces an article that derives every
    gradient of this network by hand. The layers are attributes, so they can be replaced.

    Raises:
        ShapeError: an input is not (batch, length, input_size), or a mask does not fit.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.TwoLayerConfig(input_size=4, hidden_size=8, output_size=3)
        >>> model, x = models.TwoLayerTransformer(config, rng=np.random.default_rng(0)), np.ones((2, 5, 4))
        >>> model(x).shape, [weights.shape for weights in model.attention_weights(x)]
        ((2, 3), [(2, 5, 5), (2, 5, 5)])
        >>> round(model.loss(x, np.eye(3)[:2]).item(), 1)  # untrained: log 3
        1.1
    """

    config_class = TwoLayerConfig

    def __init__(self, config: TwoLayerConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        self.attention_1: Any = nn.SimplifiedAttention()
        self.affine_1: Any = nn.Affine(config.input_size, config.hidden_size, rng=rng, dtype=dtype)
        self.softmax: Any = softmax
        self.attention_2: Any = nn.SimplifiedAttention()
        self.affine_2: Any = nn.Affine(config.hidden_size, config.output_size, rng=rng, dtype=dtype)
        for weight in (self.affine_1.weight, self.affine_2.weight):
            weight.data = nn.init.normal(weight.shape, config.std, rng=rng, dtype=dtype)

    def forward(self, x: TensorLike, *, key_mask: TensorLike | None = None) -> Tensor:
        """Return the class scores (logits) z.

        Args:
            x: (batch, length, input_size), floating.
            key_mask: (batch, length), True for tokens and False for padding: see :class:`nn.masks.Masks`.

        Returns:
            (batch, output_size)
        """
        h = self._hidden(x, key_mask)  # (batch, length, hidden_size)
        z = self.affine_2(self.attention_2(h, key_mask=key_mask))  # (batch, length, output_size)
        return nn.pool(z, key_mask, how="sum")

    def probabilities(self, x: TensorLike, *, key_mask: TensorLike | None = None) -> Tensor:
        """Return ``softmax(z)``, (batch, output_size)."""
        return softmax(self.forward(x, key_mask=key_mask))

    def loss(self, x: TensorLike, targets: Any, *, key_mask: TensorLike | None = None, epsilon: float = 1e-7) -> Tensor:
        """Return the article's loss, ``-sum(t log(y + epsilon))`` averaged over the batch.

        With ``epsilon=0`` the formula is that of :func:`nn.cross_entropy`, but ``log(y)`` is -inf where y is rounded to 0.
        :func:`nn.cross_entropy` avoids this.

        Args:
            targets: t, one-hot rows (batch, output_size).

        Raises:
            ShapeError: ``targets`` has another shape.
        """
        check_interval(0, np.inf, epsilon=epsilon)
        y = self.probabilities(x, key_mask=key_mask)
        targets = check_one_hot(targets, y)
        return -(targets * np.log(y + epsilon)).sum() / len(y)

    def attention_weights(self, x: TensorLike, *, key_mask: TensorLike | None = None) -> list[Tensor]:
        """Return the attention weights of the two layers, each (batch, length, length), for inspection."""
        x = as_tensor(x, "TwoLayerTransformer")
        return [
            self.attention_1.attention_weights(x, key_mask=key_mask),
            self.attention_2.attention_weights(self._hidden(x, key_mask), key_mask=key_mask),
        ]

    def _hidden(self, x: TensorLike, key_mask: TensorLike | None) -> Tensor:
        x = as_tensor(x, "TwoLayerTransformer")
        if x.ndim != 3 or x.shape[-1] != self.config.input_size:
            raise ShapeError(f"x must have shape (batch, length, {self.config.input_size}), got {x.shape}")
        h: Tensor = self.softmax(self.affine_1(self.attention_1(x, key_mask=key_mask)))
        return h


def check_one_hot(targets: TensorLike, y: Tensor) -> Any:
    """Return the targets as an array with the dtype of ``y``, on its device; raise a ShapeError for another shape."""
    targets = as_given(targets, "targets")
    if np.shape(targets) != y.shape:
        raise ShapeError(f"targets must be one-hot rows of shape {y.shape}, got {np.shape(targets)}")
    return beside(targets, y.data).astype(y.dtype)
