"""TransformerClassifier: a Transformer encoder that classifies texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import Tensor
from minigrad.internal import TensorLike, array_of
from nn.masks import token_ids
from nn.transformer import attention_by_layer

from ._config import Config, check_fields, check_layers
from ._layers import stack
from ._model import Model, check_model


@dataclass(frozen=True)
class ClassifierConfig(Config):
    """The sizes of a :class:`TransformerClassifier`.

    Attributes:
        vocab_size: the number of token ids, which are 0 to vocab_size - 1.
        num_classes: the number of labels, which are 0 to num_classes - 1.
        d_model: the width of the residual stream; a multiple of ``num_heads`` unless ``strict=False``.
        num_heads: the number of heads of each attention.
        num_layers: the number of layers.
        hidden: the width inside the feed-forward part; 0 means ``4 * d_model``.
        dropout: the probability with which an element is dropped in training, after the embeddings and in every layer.
        activation: that of the feed-forward part, "relu", "gelu", "gelu_tanh", "silu" or "swiglu" (:class:`nn.FeedForward`).
        norm: "pre" (normalise the input of each sublayer) or "post" (normalise its output, as in the paper).
        strict: if False, ``num_heads`` need not divide ``d_model``; each head has width ``d_model // num_heads``, rounded down.

    Raises:
        ArgumentError: a size is not a positive integer, num_heads does not divide d_model, or the activation is unknown.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.ClassifierConfig(vocab_size=10, num_classes=3, d_model=10, strict=False)
        >>> model = models.TransformerClassifier(config, rng=np.random.default_rng(0))
        >>> model.layers[0].attention.query.weight.shape  # 4 heads of width 10 // 4
        (10, 8)
    """

    vocab_size: int
    num_classes: int
    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 2
    hidden: int = 0
    dropout: float = 0.0
    activation: str = "relu"
    norm: str = "pre"
    strict: bool = True

    def __post_init__(self) -> None:
        check_layers(self)
        check_fields(self)


class TransformerClassifier(Model):
    """A text classifier: an embedding with positions, encoder layers, the mean over all tokens except padding, and an Affine.

    The encoder is that of Vaswani et al. 2017 (arXiv:1706.03762, section 3.1), pre-norm by default.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.ClassifierConfig(vocab_size=10, num_classes=3)
        >>> model = models.TransformerClassifier(config, rng=np.random.default_rng(0))
        >>> y = model([[4, 5, 0, 0]], [[1, 1, 0, 0]])
        >>> y.shape, np.allclose(y.numpy(), model([[4, 5]]).numpy(), atol=1e-5)  # padding changes nothing
        ((1, 3), True)
    """

    config_class = ClassifierConfig

    def __init__(self, config: ClassifierConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        d_model = config.d_model
        self.embedding = nn.Embedding(config.vocab_size, d_model, rng=rng, dtype=dtype)
        self.positions = nn.PositionalEncoding(d_model)
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        key_dim = None if config.strict else d_model // config.num_heads
        self.layers = stack(nn.TransformerEncoderLayer, config, norm=config.norm, key_dim=key_dim, rng=rng, dtype=dtype)
        self.norm = nn.LayerNorm(d_model, dtype=dtype) if config.norm == "pre" else None
        self.output = nn.Affine(d_model, config.num_classes, rng=rng, dtype=dtype)

    def forward(self, ids: TensorLike, key_mask: TensorLike | None = None) -> Tensor:
        """Return the class scores (logits) of token sequences.

        Args:
            ids: (batch, length) integers.
            key_mask: (batch, length), True for tokens and False for padding: see :class:`nn.masks.Masks`.

        Returns:
            (batch, num_classes)

        Raises:
            ShapeError: ``ids`` is not a matrix, or ``key_mask`` has another shape.
            DTypeError, OutOfRangeError: an id is not an integer below vocab_size, or the mask is neither boolean nor 0/1.
        """
        x, key_mask = self._embedded(ids, key_mask)
        for layer in self.layers:
            x = layer(x, key_mask=key_mask)
        if self.norm is not None:
            x = self.norm(x)
        return self.output(nn.pool(x, key_mask))

    def attention_weights(self, ids: TensorLike, key_mask: TensorLike | None = None) -> list[Tensor]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection."""
        x, key_mask = self._embedded(ids, key_mask)
        return attention_by_layer(self.layers, x, key_mask=key_mask)[0]

    def _embedded(self, ids: TensorLike, key_mask: TensorLike | None) -> tuple[Tensor, Any]:
        """Return the input of the layers, (batch, length, d_model), and the mask as booleans."""
        ids, key_mask = token_ids(ids, key_mask, array_of(self.embedding.weight), "TransformerClassifier")
        return self.dropout(self.positions(self.embedding(ids), key_mask=key_mask)), key_mask
