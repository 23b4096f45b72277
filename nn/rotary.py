"""Rotary positions: a rotation of queries and keys by an angle that depends on the position of the token."""

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike, rotated

from ._checks import check_not_negative, check_positive, check_real
from .module import Module
from .positional import PositionalEncoding


class RotaryPositions(Module):
    """A layer that rotates each pair of columns of a query or a key by an angle proportional to the position.

    At position t, columns 2i and 2i + 1 of each head, as the complex number ``z = x[2i] + 1j * x[2i + 1]``, become
    ``z * exp(1j * t / base**(2i / head_dim))``. The dot product of a rotated query at t and a rotated key at s depends
    on the positions only through t - s. Su et al. 2021, arXiv:2104.09864, eq. 34.

    The pairs are neighbouring columns, as in the paper. Some libraries pair column i with column i + head_dim / 2.

    Args:
        head_dim: the width of a head, an even number.
        base: 10,000 in the paper. A larger base turns more slowly, for longer texts: 500,000 in Llama 3.

    Calling it: x (..., length, num_heads * head_dim) -> the same shape. The tokens' positions are ``start``, ``start + 1``, ...
    With ``key_mask``, they count tokens as in :class:`PositionalEncoding`. There are no parameters.

    Raises:
        ArgumentError: head_dim is odd or not positive, base is less than 1, or start is negative.
        ShapeError: the last axis of x is not a multiple of head_dim.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rotary = nn.RotaryPositions(4)
        >>> q, k = np.random.default_rng(0).normal(size=(2, 1, 4))
        >>> here, there = (rotary(q, start=t + 3) @ rotary(k, start=t).T for t in (0, 100))
        >>> np.allclose(here.numpy(), there.numpy())  # both pairs are three positions apart
        True
    """

    def __init__(self, head_dim: int, *, base: float = 10000.0) -> None:
        check_positive(head_dim=head_dim)
        if head_dim % 2:
            raise ArgumentError(
                f"rotary positions turn pairs of columns: the width of a head must be even, got {head_dim}"
            )
        self.head_dim = head_dim
        self.positions = PositionalEncoding(head_dim, base=base)  # its codes are the sines and cosines of the angles

    def forward(self, x: "TensorLike", *, start: int = 0, key_mask: "TensorLike | None" = None) -> Tensor:
        x = check_real(x, "RotaryPositions")
        if x.ndim < 2 or x.shape[-1] % self.head_dim:
            raise ShapeError(
                f"RotaryPositions({self.head_dim}) needs x of shape (..., length, num_heads * {self.head_dim}), "
                f"got {x.shape}"
            )
        if start.__class__ is not int or start < 0:  # faster than the check itself
            check_not_negative(start=start)
        codes = self.positions.codes_of(x, start, key_mask)  # ([batch,] length, head_dim): sin, cos, sin, cos ...
        found: Tensor = rotated(x, codes[..., 1::2], codes[..., 0::2])
        return found

    def extra_repr(self) -> str:
        return str(self.head_dim)
