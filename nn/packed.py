"""Multi-head attention whose queries, keys and values come out of one product."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor

from .affine import Affine
from .multi_head import MultiHeadAttention


class PackedMultiHeadAttention(MultiHeadAttention):
    """Self-attention whose queries, keys and values come from one map, ``q, k, v = split(x W + b)``: one product, not three.

    ``input.weight`` (d_model, 3 * d_model) holds ``W_q``, ``W_k`` and ``W_v`` side by side; PyTorch's ``in_proj_weight`` is
    its transpose. Everything else is as in :class:`MultiHeadAttention`, whose weights it takes over by
    ``from_torch_state(packed, to_torch_state(attention))``, and the other way round.

    Raises:
        ArgumentError: keys or values other than the query are given, or a context_dim other than d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> x, rng = np.ones((1, 3, 8)), np.random.default_rng(0)
        >>> attention = nn.MultiHeadAttention(8, 2, rng=rng)
        >>> packed = nn.PackedMultiHeadAttention(8, 2, rng=rng)
        >>> nn.from_torch_state(packed, nn.to_torch_state(attention))
        >>> packed.input.weight.shape, np.allclose(packed(x).numpy(), attention(x).numpy(), atol=1e-5)
        ((8, 24), True)
    """

    def _make_inputs(self, widths: tuple[int, int, int], rng: np.random.Generator, bias: bool, dtype: Any) -> None:
        if self.context_dim != self.d_model:
            raise ArgumentError(
                f"PackedMultiHeadAttention is self-attention, and context_dim={self.context_dim} is not "
                f"d_model={self.d_model}: use MultiHeadAttention"
            )
        self.widths = widths
        self.input = Affine(self.d_model, sum(widths), rng=rng, bias=bias, dtype=dtype)

    def _mapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if key is not query or value is not query:
            raise ArgumentError(
                "PackedMultiHeadAttention is self-attention: give the query alone, or use MultiHeadAttention"
            )
        q, k, _ = self.widths
        parts: Any = np.split(self.input(query), (q, q + k), axis=-1)
        return parts[0], parts[1], parts[2]
