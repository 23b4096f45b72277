"""TwoLayerTransformer: attention and nothing else, twice, small enough to differentiate by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import nn
from minigrad import ShapeError, Tensor, softmax
from nn._checks import beside

from ._config import Config


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


class TwoLayerTransformer(nn.Module):
    """Two simplified attention layers with an Affine each, a softmax between them, and the sum over the tokens::

        h = softmax(attention(x) W_1 + b_1)                        (batch, length, hidden_size)
        z = sum over tokens of (attention(h) W_2 + b_2)            (batch, output_size)
        y = softmax(z)                                             what `probabilities` gives

    with ``attention(h) = softmax(h h^T / sqrt(d)) h``, which has no weights of its own: the network learns where to look by
    changing h. The network of an article that derives every gradient by hand; see `examples/numpy_article.py`. The parts are
    attributes, so that others can be put in their place.

    Args:
        rng: where the initial weights come from: the same generator state gives the same model.

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

    def __init__(self, config: TwoLayerConfig, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        self.config = config
        self.attention_1: Any = nn.SimplifiedAttention()
        self.affine_1: Any = nn.Affine(config.input_size, config.hidden_size, rng=rng, dtype=dtype)
        self.softmax: Any = softmax
        self.attention_2: Any = nn.SimplifiedAttention()
        self.affine_2: Any = nn.Affine(config.hidden_size, config.output_size, rng=rng, dtype=dtype)
        for weight in (self.affine_1.weight, self.affine_2.weight):
            weight.data = nn.init.normal(weight.shape, config.std, rng=rng, dtype=dtype)

    def forward(self, x: Any, *, key_mask: Any = None) -> Tensor:
        """Class scores (logits) z.

        Args:
            x: (batch, length, input_size), floating.
            key_mask: (batch, length), True = a token, False = padding; None if nothing is padding.

        Returns:
            (batch, output_size)
        """
        h = self._hidden(x, key_mask)  # (batch, length, hidden_size)
        z = self.affine_2(self.attention_2(h, key_mask=key_mask))  # (batch, length, output_size)
        return nn.pool(z, key_mask, how="sum")

    def probabilities(self, x: Any, *, key_mask: Any = None) -> Tensor:
        """``softmax(z)``, (batch, output_size)."""
        return softmax(self.forward(x, key_mask=key_mask))

    def loss(self, x: Any, targets: Any, *, key_mask: Any = None, epsilon: float = 1e-7) -> Tensor:
        """``-sum(t log(y + epsilon))``, the mean over the batch: the article's loss.

        With ``epsilon=0`` it is :func:`nn.cross_entropy`, which never takes the logarithm of a y that was rounded to 0.

        Args:
            targets: t, one-hot rows (batch, output_size).

        Raises:
            ShapeError: ``targets`` has another shape.
        """
        y = self.probabilities(x, key_mask=key_mask)
        targets = check_one_hot(targets, y)
        return -(targets * np.log(y + epsilon)).sum() / len(y)

    def attention_weights(self, x: Any, *, key_mask: Any = None) -> list[Tensor]:
        """What each token attends to in either layer, to look at: two times (batch, length, length)."""
        return [
            self.attention_1.attention_weights(x, key_mask=key_mask),
            self.attention_2.attention_weights(self._hidden(x, key_mask), key_mask=key_mask),
        ]

    def _hidden(self, x: Any, key_mask: Any) -> Tensor:
        x = x if isinstance(x, Tensor) else Tensor(x, copy=False)
        if x.ndim != 3 or x.shape[-1] != self.config.input_size:
            raise ShapeError(f"x must have shape (batch, length, {self.config.input_size}), got {x.shape}")
        h: Tensor = self.softmax(self.affine_1(self.attention_1(x, key_mask=key_mask)))
        return h


def check_one_hot(targets: Any, y: Tensor) -> Any:
    """The targets as an array beside ``y``, of the same shape and dtype."""
    if np.shape(targets) != y.shape:
        raise ShapeError(f"targets must be one-hot rows of shape {y.shape}, got {np.shape(targets)}")
    return beside(targets, y.data).astype(y.dtype)
