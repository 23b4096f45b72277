"""Recurrent networks: a state that is carried from token to token."""

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor, affine, primitive, sigmoid

from ._checks import as_input, check_positive
from ._gru_kernel import gru_backward, gru_forward
from .affine import Affine
from .masks import combined_mask
from .module import Module


class GRUCell(Module):
    """One step of a gated recurrent unit: how a state changes when it reads an input. ::

        r = sigmoid(x W_r + b_r + h U_r + c_r)           what of the old state the candidate sees
        z = sigmoid(x W_z + b_z + h U_z + c_z)           how much of the old state stays
        n = tanh(x W_n + b_n + r * (h U_n + c_n))        the candidate
        h' = (1 - z) * n + z * h

    Cho et al. 2014, arXiv:1406.1078, section 2.3, with r applied after the product with U_n (Cho et al. apply it to h
    before), as PyTorch and cuDNN do. ``input.weight`` is [W_r, W_z, W_n] side by side, ``state.weight`` [U_r, U_z, U_n].

    Args:
        input_dim, hidden_dim: the widths of inputs and states.

    Shapes: x (batch, input_dim), h (batch, hidden_dim) -> (batch, hidden_dim).

    Raises:
        ArgumentError: a width is no positive integer.
        ShapeError: x or h has another shape.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> cell = nn.GRUCell(3, 4, rng=np.random.default_rng(0))
        >>> x, h = np.ones((2, 3)), np.full((2, 4), 0.5)
        >>> cell(x, h).shape
        (2, 4)
        >>> cell.input.bias.data[4:8] = 50.0  # z is 1 now, and the state stays
        >>> cell(x, h).numpy().round(4)[0]
        array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """

    def __init__(self, input_dim: int, hidden_dim: int, *, rng: np.random.Generator, dtype: Any = np.float32) -> None:
        check_positive(input_dim=input_dim, hidden_dim=hidden_dim)
        self.hidden_dim = hidden_dim
        self.input = Affine(input_dim, 3 * hidden_dim, rng=rng, dtype=dtype)
        self.state = Affine(hidden_dim, 3 * hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: Any, h: Any) -> Tensor:
        x, h = (as_input(t, self.state.weight.dtype, "GRUCell") for t in (x, h))
        width = self.input.weight.shape[0]
        if x.ndim != 2 or x.shape[1] != width or h.shape != (x.shape[0], self.hidden_dim):
            raise ShapeError(
                f"GRUCell needs x of shape (batch, {width}) and h of shape (batch, {self.hidden_dim}) of one batch size, got "
                f"{x.shape} and {h.shape}"
            )
        return self.step(self.input(x), h)

    def step(self, image: Tensor, h: Any) -> Tensor:
        """The same, of ``x W + b``: for all tokens of a sequence that can be one product."""
        h = as_input(h, self.state.weight.dtype, "GRUCell")
        return _changed(h, image, self.state(h))

    def extra_repr(self) -> str:
        return f"{self.input.weight.shape[0]}, {self.hidden_dim}"


def _changed(h: Any, image: Any, memory: Any) -> Any:
    """The new state, of h, ``x W + b`` and ``h U + c``, both (batch, 3 hidden_dim)."""
    d = h.shape[-1]
    gates = sigmoid(image[:, : 2 * d] + memory[:, : 2 * d])
    reset, keep = gates[:, :d], gates[:, d:]
    candidate = np.tanh(image[:, 2 * d :] + reset * memory[:, 2 * d :])
    return candidate + keep * (h - candidate)


def _states(images: Any, initial: Any, weight: Any, bias: Any, /, is_token: Any = None, reverse: bool = False) -> Any:
    """The state after each token, (batch, length, hidden_dim); padding leaves it as it was."""
    length, h = images.shape[1], initial
    states = [h] * length
    for t in reversed(range(length)) if reverse else range(length):
        new = _changed(h, images[:, t], affine(h, weight, bias))
        h = new if is_token is None else np.where(is_token[:, t], new, h)
        states[t] = h
    return np.stack(states, axis=1)


gru_states = primitive(_states, name="gru_states").reference(_states)
gru_states.kernel(np.ndarray, gru_forward, gru_backward)


class GRU(Module):
    """A :class:`GRUCell` along a sequence: the states after each token, and the last.

    Args:
        input_dim, hidden_dim: the widths of inputs and states.
        reverse: read from the last token to the first.

    Calling it:
        x: (batch, length, input_dim).
        initial: (batch, hidden_dim), the state before the first token; zeros by default.
        key_mask: (batch, length) booleans, or integers 0 and 1: where x is a token. Padding leaves the state as it was,
            so the last state is the one after the last token, and the states at padding are given as zeros.

        The result is a pair: states (batch, length, hidden_dim) and the last state (batch, hidden_dim).

    Raises:
        ShapeError: shapes do not fit together.
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

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        *,
        rng: np.random.Generator,
        reverse: bool = False,
        dtype: Any = np.float32,
    ) -> None:
        self.reverse = reverse
        self.cell = GRUCell(input_dim, hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: Any, initial: Any = None, *, key_mask: Any = None) -> tuple[Tensor, Tensor]:
        width, dtype = self.cell.input.weight.shape[0], self.cell.input.weight.dtype
        x = as_input(x, dtype, "GRU")
        if x.ndim != 3 or x.shape[-1] != width or not x.shape[1]:
            raise ShapeError(f"GRU needs x of shape (batch, length, {width}) with length > 0, got {x.shape}")
        batch, length, _ = x.shape
        if initial is None:
            initial = np.zeros((batch, self.cell.hidden_dim), dtype, like=x.data)
        h: Any = as_input(initial, dtype, "GRU")
        if h.shape != (batch, self.cell.hidden_dim):
            raise ShapeError(
                f"GRU needs initial of shape (batch, hidden_dim) = {(batch, self.cell.hidden_dim)}, got {h.shape}"
            )
        is_token = combined_mask((batch, 1, length), x.data, key_mask=key_mask)  # (batch, 1, length)
        if is_token is not None:
            is_token = is_token.swapaxes(1, 2)  # (batch, length, 1)
        state = self.cell.state
        states: Any = gru_states(
            self.cell.input(x), h, state.weight, state.bias, is_token=is_token, reverse=self.reverse
        )
        last = states[:, 0 if self.reverse else -1]
        if is_token is not None:
            states = np.where(is_token, states, 0.0)
        return states, last

    def extra_repr(self) -> str:
        return "reverse=True" if self.reverse else ""
