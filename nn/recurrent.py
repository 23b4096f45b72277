"""Recurrent networks, which update a state from token to token."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor, affine, primitive, sigmoid
from minigrad.internal import Array, TensorLike

from ._checks import as_input, check_positive
from ._gru_kernel import gru_backward, gru_forward
from .affine import Affine
from .masks import as_key_mask
from .module import DType, Module


class GRUCell(Module):
    """One step of a gated recurrent unit, which maps an input x and a state h to the new state h'. ::

        r = sigmoid(x W_r + b_r + h U_r + c_r)           reset gate: how much of h the candidate uses
        z = sigmoid(x W_z + b_z + h U_z + c_z)           update gate: how much of h is kept
        n = tanh(x W_n + b_n + r * (h U_n + c_n))        candidate
        h' = (1 - z) * n + z * h

    Cho et al. 2014, arXiv:1406.1078, section 2.3, apply r to h before the product with U_n. This layer applies r after the
    product, as PyTorch and cuDNN do. ``input.weight`` is ``[W_r, W_z, W_n]`` and ``state.weight`` is ``[U_r, U_z, U_n]``.

    Args:
        input_dim, hidden_dim: the widths of inputs and states.
        rng: the generator that draws the weights, whose dtype is ``dtype``.

    Shapes: x (batch, input_dim), h (batch, hidden_dim) -> (batch, hidden_dim).

    Raises:
        ArgumentError: a width is not a positive integer.
        ShapeError: the shape of x or h is not the one above.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> cell = nn.GRUCell(3, 4, rng=np.random.default_rng(0))
        >>> x, h = np.ones((2, 3)), np.full((2, 4), 0.5)
        >>> cell(x, h).shape
        (2, 4)
        >>> cell.input.bias.data[4:8] = 50.0  # now z is 1, and the state does not change
        >>> cell(x, h).numpy().round(4)[0]
        array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """

    def __init__(self, input_dim: int, hidden_dim: int, *, rng: np.random.Generator, dtype: DType = np.float32) -> None:
        check_positive(input_dim=input_dim, hidden_dim=hidden_dim)
        self.hidden_dim = hidden_dim
        self.input = Affine(input_dim, 3 * hidden_dim, rng=rng, dtype=dtype)
        self.state = Affine(hidden_dim, 3 * hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: TensorLike, h: TensorLike) -> Tensor:
        x, h = (as_input(t, self.state.weight.dtype, "GRUCell") for t in (x, h))
        width = self.input.weight.shape[0]
        if x.ndim != 2 or x.shape[1] != width or h.shape != (x.shape[0], self.hidden_dim):
            raise ShapeError(
                f"GRUCell needs x (batch, {width}) and h (batch, {self.hidden_dim}), got {x.shape} and {h.shape}"
            )
        return self.step(self.input(x), h)

    def step(self, image: Tensor, h: TensorLike) -> Tensor:
        """Return the new state from the projected input ``image = input(x)`` and h. One product can project all tokens."""
        h = as_input(h, self.state.weight.dtype, "GRUCell")
        return _changed(h, image, self.state(h))

    def extra_repr(self) -> str:
        return f"{self.input.weight.shape[0]}, {self.hidden_dim}"


def _changed(h: Array, image: Array, memory: Array) -> Any:
    """Return the new state from h, ``image = x W + b`` and ``memory = h U + c``, both (batch, 3 hidden_dim)."""
    d = h.shape[-1]
    gates = sigmoid(image[:, : 2 * d] + memory[:, : 2 * d])
    reset, keep = gates[:, :d], gates[:, d:]
    candidate = np.tanh(image[:, 2 * d :] + reset * memory[:, 2 * d :])
    return candidate + keep * (h - candidate)


def _states(
    images: Array,
    initial: Array,
    weight: Array,
    bias: Array | None,
    /,
    is_token: Array | None = None,
    reverse: bool = False,
) -> Any:
    """Return the state after each token, (batch, length, hidden_dim). Padding does not change the state."""
    length, h = images.shape[1], initial
    states = [h] * length
    for t in reversed(range(length)) if reverse else range(length):
        new = _changed(h, images[:, t], affine(h, weight, bias))
        h = new if is_token is None else np.where(is_token[:, t], new, h)
        states[t] = h
    return np.stack(states, axis=1)


gru_states = primitive(_states, name="gru_states").reference(_states)
gru_states.kernel(np.ndarray, gru_forward, gru_backward)


class OverTokens(Module):
    """What GRU and LSTM share: the cell that is applied to the tokens of a sequence, one after the other."""

    cell_class: Any

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        *,
        rng: np.random.Generator,
        reverse: bool = False,
        dtype: DType = np.float32,
    ) -> None:
        self.reverse = reverse
        self.cell = self.cell_class(input_dim, hidden_dim, rng=rng, dtype=dtype)

    def _tokens(self, x: TensorLike, key_mask: TensorLike | None) -> tuple[Tensor, Array | None]:
        """Return x (batch, length, input_dim), and which of its tokens are no padding, (batch, length, 1), or None."""
        name, (width, _) = type(self).__name__, self.cell.input.weight.shape
        x = as_input(x, self.cell.input.weight.dtype, name)
        if x.ndim != 3 or x.shape[-1] != width or not x.shape[1]:
            raise ShapeError(f"{name} needs x of shape (batch, length, {width}) with length > 0, got {x.shape}")
        is_token = as_key_mask(key_mask, x.shape[:2], x.data)
        return x, None if is_token is None else is_token[..., None]

    def extra_repr(self) -> str:
        return "reverse=True" if self.reverse else ""


class GRU(OverTokens):
    """A gated recurrent unit that applies a :class:`GRUCell` to the tokens of a sequence, one after the other.

    Args:
        input_dim, hidden_dim, rng: as in :class:`GRUCell`.
        reverse: whether to read from the last token to the first.

    Calling it:
        x: (batch, length, input_dim).
        initial: (batch, hidden_dim), the state before the first token; zeros by default.
        key_mask: (batch, length) booleans, or integers 0 and 1; True or 1 marks a token, False or 0 marks padding. Padding does
            not change the state, so the last state is the state after the last token. The returned states are 0 at padding.

        The result is a pair: the states (batch, length, hidden_dim) and the last state (batch, hidden_dim).

    Raises:
        ShapeError: the shapes do not fit together, or length is 0.
        DTypeError, OutOfRangeError: the mask is neither boolean nor 0/1.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> gru = nn.GRU(3, 4, rng=np.random.default_rng(0))
        >>> states, last = gru(np.ones((1, 5, 3)), key_mask=[[True, True, False, False, False]])
        >>> states.shape, last.shape
        ((1, 5, 4), (1, 4))
        >>> (last.numpy() == states.numpy()[:, 1]).all().item()  # after the last token, not after the padding
        True
    """

    cell_class = GRUCell

    def forward(
        self, x: TensorLike, initial: TensorLike | None = None, *, key_mask: TensorLike | None = None
    ) -> tuple[Tensor, Tensor]:
        x, is_token = self._tokens(x, key_mask)
        dtype, batch = x.dtype, len(x)
        if initial is None:
            initial = np.zeros((batch, self.cell.hidden_dim), dtype, like=x.data)
        h: Any = as_input(initial, dtype, "GRU")
        if h.shape != (batch, self.cell.hidden_dim):
            raise ShapeError(
                f"GRU needs initial of shape (batch, hidden_dim) = {(batch, self.cell.hidden_dim)}, got {h.shape}"
            )
        state = self.cell.state
        states: Any = gru_states(
            self.cell.input(x), h, state.weight, state.bias, is_token=is_token, reverse=self.reverse
        )
        last = states[:, 0 if self.reverse else -1]
        if is_token is not None:
            states = np.where(is_token, states, 0.0)
        return states, last
