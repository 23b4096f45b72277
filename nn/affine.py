"""The affine map, also called Linear or Dense."""

import numpy as np

from minigrad import Tensor, affine
from minigrad.internal import TensorLike, fits

from . import init
from ._checks import check_kind, check_positive, with_columns
from .module import DType, Module, Parameter


class Affine(Module):
    """The affine map ``x @ weight + bias``.

    Args:
        in_features, out_features: the widths of x and of the result.
        rng: the generator that draws the weight, with :func:`nn.init.xavier_uniform`. The bias starts at zero.
        bias: whether to add a bias.
        dtype: the dtype of the parameters; the layer casts a real x to it.

    Shapes: x (..., in_features) -> (..., out_features); ``weight`` (in_features, out_features), ``bias`` (out_features,).
    PyTorch's Linear keeps the transpose of ``weight``.

    Raises:
        ArgumentError: a width is not a positive integer, or ``rng`` is not a generator.
        ShapeError: the last axis of x is not in_features.
        DTypeError: x is complex.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.Affine(3, 2, rng=np.random.default_rng(0))
        >>> layer(np.ones((4, 5, 3))).shape
        (4, 5, 2)
        >>> layer
        Affine(3, 2)  8 parameters
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        rng: np.random.Generator,
        bias: bool = True,
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(in_features=in_features, out_features=out_features)
        check_kind("True or False", bias=bias)
        self.weight = Parameter(init.xavier_uniform((in_features, out_features), rng=rng, dtype=dtype))
        self.bias = Parameter(np.zeros(out_features, dtype)) if bias else None

    @property
    def matrix(self) -> Tensor:
        """The matrix that x is multiplied by: ``weight``, or in a :class:`LoRA` its sum with the correction."""
        return self.weight

    def forward(self, x: "TensorLike") -> Tensor:
        if not fits(x, self.weight):
            x = with_columns(x, self.weight, "Affine")
        return x @ self.weight if self.bias is None else affine(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        in_features, out_features = self.weight.shape
        return f"{in_features}, {out_features}" + ("" if self.bias is not None else ", bias=False")
