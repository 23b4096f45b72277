"""Make the stacks of layers of this package's Transformers."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

import nn

L = TypeVar("L", nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)


def stack(
    kind: type[L], config: Any, *, rng: np.random.Generator, dtype: DTypeLike, count: int | None = None, **settings: Any
) -> list[L]:
    """Make ``count`` layers (``num_layers`` by default) with the sizes in a model's config.

    Args:
        config: has d_model, num_heads, hidden (0 means ``4 * d_model``), activation, dropout and num_layers.
        settings: further keyword arguments of the layers.
    """
    hidden = config.hidden or 4 * config.d_model
    settings |= {"activation": config.activation, "dropout": config.dropout, "rng": rng, "dtype": dtype}
    layers = range(config.num_layers if count is None else count)
    return [kind(config.d_model, config.num_heads, hidden, **settings) for _ in layers]
