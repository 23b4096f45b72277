"""VisionTransformer: a Transformer encoder that reads an image as a sequence of patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import nn
from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike
from nn._checks import as_given, as_input, check_positive
from nn.transformer import attention_by_layer

from ._config import Config, check_fields, check_layers
from ._layers import stack
from ._model import Model, check_model


@dataclass(frozen=True)
class VisionTransformerConfig(Config):
    """The sizes of a :class:`VisionTransformer`.

    Attributes:
        image_size: the height and the width of an image, in pixels.
        patch_size: the height and the width of a patch; a divisor of ``image_size``.
        channels: 1 for grey, 3 for colour.
        num_classes: the number of labels, which are 0 to num_classes - 1.
        d_model, num_heads, num_layers, hidden, dropout, activation: as in :class:`ClassifierConfig`.

    Raises:
        ArgumentError: a size is not a positive integer, patch_size does not divide image_size, num_heads not d_model, or
            the activation is unknown.

    Example:
        >>> import models
        >>> models.VisionTransformerConfig(image_size=28, patch_size=7, num_classes=10).num_patches  # 4 by 4
        16
    """

    image_size: int
    patch_size: int
    num_classes: int
    channels: int = 1
    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 2
    hidden: int = 0
    dropout: float = 0.0
    activation: str = "gelu"

    def __post_init__(self) -> None:
        check_layers(self)
        check_fields(self)
        check_positive(image_size=self.image_size, patch_size=self.patch_size, channels=self.channels)
        if self.image_size % self.patch_size:
            raise ArgumentError(f"patch_size={self.patch_size} does not divide image_size={self.image_size}")

    @property
    def num_patches(self) -> int:
        return (self.image_size // self.patch_size) ** 2


def image_patches(images: TensorLike, patch_size: int) -> Any:
    """Cut images into squares, row by row, and flatten each. Dosovitskiy et al. 2020, arXiv:2010.11929, section 3.1.

    Args:
        images: (batch, height, width, channels), an array or a Tensor; ``patch_size`` divides height and width.

    Returns:
        (batch, patches, patch_size * patch_size * channels); the channels stay the last axis within a patch.

    Raises:
        ShapeError: the images do not have four axes, or ``patch_size`` does not divide height and width.
        ArgumentError: ``patch_size`` is not a positive integer.

    Example:
        >>> import numpy as np
        >>> import models
        >>> models.image_patches(np.arange(16).reshape(1, 4, 4, 1), 2)
        array([[[ 0,  1,  4,  5],
                [ 2,  3,  6,  7],
                [ 8,  9, 12, 13],
                [10, 11, 14, 15]]])
    """
    check_positive(patch_size=patch_size)
    images = as_given(images, "images")
    if images.ndim != 4 or images.shape[1] % patch_size or images.shape[2] % patch_size:
        raise ShapeError(
            "image_patches needs images of shape (batch, height, width, channels), with height and width multiples of "
            f"patch_size={patch_size}, got {images.shape}"
        )
    batch, height, width, channels = images.shape
    rows, columns = height // patch_size, width // patch_size
    grid = images.reshape(batch, rows, patch_size, columns, patch_size, channels)
    grid = grid.transpose(0, 1, 3, 2, 4, 5)  # (batch, rows, columns, patch_size, patch_size, channels)
    return grid.reshape(batch, rows * columns, patch_size * patch_size * channels)


class VisionTransformer(Model):
    """An image classifier that applies pre-norm encoder layers to image patches and a class token.

    ::

        z_0 = [class; patch_1 W + b; ...; patch_N W + b] + P         # (1)
        z = z + attention(LayerNorm(z))                              # (2)  (2) and (3) are repeated num_layers times
        z = z + feed_forward(LayerNorm(z))                           # (3)
        logits = LayerNorm(z)[0] W_out + b_out                       # (4)

    Source: Dosovitskiy et al. 2020, "An Image is Worth 16x16 Words", arXiv:2010.11929, equations 1 to 4. Only the cutting
    into patches is specific to images. The network learns the positions of the patches, in P.

    Example:
        >>> import numpy as np
        >>> import models
        >>> config = models.VisionTransformerConfig(image_size=8, patch_size=4, num_classes=10)
        >>> model = models.VisionTransformer(config, rng=np.random.default_rng(0))
        >>> images = np.zeros((2, 8, 8))
        >>> model(images).shape, model.attention_weights(images)[0].shape  # 1 class token and 4 patches
        ((2, 10), (2, 4, 5, 5))
    """

    config_class = VisionTransformerConfig

    def __init__(
        self, config: VisionTransformerConfig, *, rng: np.random.Generator, dtype: DTypeLike = np.float32
    ) -> None:
        check_model(self, config, rng, dtype)
        self.config = config
        d_model = config.d_model
        self.patches = nn.Affine(config.patch_size**2 * config.channels, d_model, rng=rng, dtype=dtype)
        self.class_token = nn.Parameter(nn.init.normal((1, 1, d_model), 0.02, rng=rng, dtype=dtype))
        # std=0.3: position vectors about as large as patch embeddings let small networks learn much faster.
        self.positions = nn.LearnedPositions(1 + config.num_patches, d_model, std=0.3, rng=rng, dtype=dtype)
        self.dropout = nn.Dropout(config.dropout, rng=rng)
        self.layers = stack(nn.TransformerEncoderLayer, config, norm="pre", rng=rng, dtype=dtype)
        self.norm = nn.LayerNorm(d_model, dtype=dtype)
        self.output = nn.Affine(d_model, config.num_classes, rng=rng, dtype=dtype)

    def forward(self, images: TensorLike) -> Tensor:
        """Return the class scores (logits) of images.

        Args:
            images: (batch, image_size, image_size, channels), best with mean about 0 and standard deviation about 1. The last
                axis may be omitted if ``channels`` is 1.

        Returns:
            (batch, num_classes)

        Raises:
            ShapeError: the images have another shape.
        """
        z = self._embedded(images)  # (batch, 1 + patches, d_model)
        for layer in self.layers:
            z = layer(z)
        return self.output(self.norm(z[:, 0]))

    def attention_weights(self, images: TensorLike) -> list[Tensor]:
        """Return the attention weights of each layer, (batch, heads, query, key), for inspection.

        Token 0 is the class token. ``weights[:, :, 0, 1:]`` are its weights on the patches; reshape it to (batch, heads, rows,
        columns) to see them as images.
        """
        return attention_by_layer(self.layers, self._embedded(images))[0]

    def _embedded(self, images: Any) -> Tensor:
        """Return the input of the layers: (batch, image_size, image_size, channels) -> (batch, 1 + patches, d_model)."""
        config = self.config
        images = as_input(images, self.class_token.dtype, "VisionTransformer", "images")
        if images.ndim == 3 and config.channels == 1:
            images = images[..., None]
        if images.ndim != 4 or images.shape[1:] != (config.image_size, config.image_size, config.channels):
            size = (config.image_size, config.image_size, config.channels)
            raise ShapeError(
                f"VisionTransformer needs images of shape (batch, {', '.join(map(str, size))}), got {images.shape}"
            )
        tokens = self.patches(image_patches(images, config.patch_size))  # (batch, patches, d_model)
        first = np.broadcast_to(self.class_token, (images.shape[0], 1, config.d_model))
        return self.dropout(self.positions(np.concatenate([first, tokens], axis=1)))
