"""Long short-term memory, a recurrent network whose cell carries values over many tokens."""

from __future__ import annotations

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike, lstm_states, lstm_step

from ._checks import as_input, check_kind, given, shown
from .recurrent import OverTokens, RecurrentCell

State = tuple[TensorLike, TensorLike]


class LSTMCell(RecurrentCell):
    """One step of a long short-term memory, which maps an input x, a state h and a cell c to the new h' and c'. ::

        i, f, o = sigmoid(x W + b + h U + a)     input, forget and output gates, each with weights of its own
        g = tanh(x W_g + b_g + h U_g + a_g)      candidate
        c' = f * c + i * g
        h' = o * tanh(c')

    Hochreiter and Schmidhuber 1997; the forget gate is that of Gers, Schmidhuber and Cummins 2000. ``input.weight`` is
    ``[W_i, W_f, W_g, W_o]`` and ``state.weight`` is ``[U_i, U_f, U_g, U_o]``, in PyTorch's order.

    Arguments and errors are those of :class:`RNNCell`, without activation. Shapes: x (batch, input_dim), h and c
    (batch, hidden_dim) -> a pair, h' and c', each (batch, hidden_dim).

    Example:
        >>> import numpy as np
        >>> import nn
        >>> cell = nn.LSTMCell(3, 4, rng=np.random.default_rng(0))
        >>> h, c = cell(np.ones((2, 3)), (np.zeros((2, 4)), np.zeros((2, 4))))
        >>> h.shape, c.shape
        ((2, 4), (2, 4))
    """

    blocks = 4

    def forward(self, x: TensorLike, state: State) -> tuple[Tensor, Tensor]:  # type: ignore[override]  # h and c
        check_kind("a pair (h, c)", (tuple, list, np.ndarray, Tensor), state=state)
        if len(state) != 2:
            raise ArgumentError(f"state must be a pair (h, c), got {shown(state)}")
        x, h, c = (
            as_input(t, self.state.weight.dtype, "LSTMCell", name) for name, t in zip(("x", "h", "c"), (x, *state))
        )
        width = self.input.weight.shape[0]
        if x.ndim != 2 or x.shape[1] != width or {h.shape, c.shape} != {(x.shape[0], self.hidden_dim)}:
            raise ShapeError(
                f"LSTMCell needs x (batch, {width}), h and c (batch, {self.hidden_dim}), got {x.shape}, {h.shape} and {c.shape}"
            )
        found: tuple[Tensor, Tensor] = lstm_step(c, self.input(x) + self.state(h))
        return found


class LSTM(OverTokens):
    """A long short-term memory that applies an :class:`LSTMCell` to the tokens of a sequence, one after the other.

    Arguments, errors and shapes are those of :class:`GRU`, where a state is the pair (h, c), each (batch, hidden_dim). The
    result is a pair: the states h (batch, length, hidden_dim), and the pair (h, c) after the last token.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> lstm = nn.LSTM(3, 4, rng=np.random.default_rng(0))
        >>> states, (h, c) = lstm(np.ones((1, 5, 3)), key_mask=[[True, True, False, False, False]])
        >>> states.shape, h.shape, c.shape
        ((1, 5, 4), (1, 4), (1, 4))
        >>> (h.numpy() == states.numpy()[:, 1]).all().item()  # after the last token, not after the padding
        True
    """

    cell_class, _states_of, parts = LSTMCell, lstm_states, 2

    def forward(  # type: ignore[override]  # a state is a pair
        self, x: TensorLike, initial: State | None = None, *, key_mask: TensorLike | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        check_kind("a pair (h, c)", (tuple, list, np.ndarray, Tensor), **given(initial=initial))
        states, (h, c) = self._through_layers(x, initial, key_mask)
        return states, (h, c)
