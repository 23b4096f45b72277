"""Recurrent networks, which update a state from token to token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, relu
from minigrad.internal import Array, TensorLike, gru_states, gru_step, scan

from ._checks import as_input, check_choice, check_kind, check_positive, check_probability
from .affine import Affine
from .dropout import Dropout
from .masks import as_key_mask, without_padding
from .module import DType, Module


class RecurrentCell(Module):
    """What the cells share: a map of the input, a map of the state, and the check of their arguments."""

    blocks: int  # the number of blocks of width hidden_dim that each map computes
    step: Callable[..., Tensor]  # the new state from ``image = input(x)`` and h; one product can project all tokens

    def __init__(self, input_dim: int, hidden_dim: int, *, rng: np.random.Generator, dtype: DType = np.float32) -> None:
        check_positive(input_dim=input_dim, hidden_dim=hidden_dim)
        self.hidden_dim = hidden_dim
        self.input = Affine(input_dim, self.blocks * hidden_dim, rng=rng, dtype=dtype)
        self.state = Affine(hidden_dim, self.blocks * hidden_dim, rng=rng, dtype=dtype)

    def forward(self, x: TensorLike, h: TensorLike) -> Tensor:
        name = type(self).__name__
        x, h = (as_input(t, self.state.weight.dtype, name, called) for called, t in (("x", x), ("h", h)))
        width = self.input.weight.shape[0]
        if x.ndim != 2 or x.shape[1] != width or h.shape != (x.shape[0], self.hidden_dim):
            raise ShapeError(
                f"{name} needs x (batch, {width}) and h (batch, {self.hidden_dim}), got {x.shape} and {h.shape}"
            )
        return self.step(self.input(x), h)

    def extra_repr(self) -> str:
        return f"{self.input.weight.shape[0]}, {self.hidden_dim}"


class RNNCell(RecurrentCell):
    """One step of a plain recurrent network, ``h' = tanh(x W + b + h U + c)``, or relu in place of tanh.

    Elman 1990, Cognitive Science 14(2); Graves et al. 2013, arXiv:1303.5778, eq. 1. W and b are in ``input``, U and c in
    ``state``.

    Args:
        input_dim, hidden_dim: the widths of inputs and states.
        rng: the generator that draws the weights, whose dtype is ``dtype``.
        activation: "tanh" or "relu".

    Shapes: x (batch, input_dim), h (batch, hidden_dim) -> (batch, hidden_dim).

    Raises:
        ArgumentError: a width is not a positive integer, or no activation has this name.
        ShapeError: the shape of x or h is not the one above.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> cell = nn.RNNCell(1, 1, rng=np.random.default_rng(0))
        >>> cell.input.weight.data[:], cell.state.weight.data[:] = 1.0, -1.0
        >>> cell([[0.75]], [[0.25]]).numpy().round(4)  # tanh(0.75 - 0.25)
        array([[0.4621]], dtype=float32)
    """

    blocks = 1

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        *,
        rng: np.random.Generator,
        activation: str = "tanh",
        dtype: DType = np.float32,
    ) -> None:
        check_choice(("tanh", "relu"), activation=activation)
        super().__init__(input_dim, hidden_dim, rng=rng, dtype=dtype)
        self.activation = activation

    def step(self, image: Tensor, h: TensorLike) -> Tensor:
        sums: Any = image + self.state(h)
        return relu(sums) if self.activation == "relu" else np.tanh(sums)

    def extra_repr(self) -> str:
        return super().extra_repr() + (", activation='relu'" if self.activation == "relu" else "")


class GRUCell(RecurrentCell):
    """One step of a gated recurrent unit, which maps an input x and a state h to the new state h'. ::

        r = sigmoid(x W_r + b_r + h U_r + c_r)           reset gate: how much of h the candidate uses
        z = sigmoid(x W_z + b_z + h U_z + c_z)           update gate: how much of h is kept
        n = tanh(x W_n + b_n + r * (h U_n + c_n))        candidate
        h' = (1 - z) * n + z * h

    Cho et al. 2014, arXiv:1406.1078, section 2.3, apply r to h before the product with U_n. This layer applies r after the
    product, as PyTorch and cuDNN do. ``input.weight`` is ``[W_r, W_z, W_n]`` and ``state.weight`` is ``[U_r, U_z, U_n]``.
    Arguments, shapes and errors are those of :class:`RNNCell`, without activation.

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

    blocks = 3

    def step(self, image: Tensor, h: TensorLike) -> Tensor:
        h = as_input(h, self.state.weight.dtype, "GRUCell", "h")
        return gru_step(h, image, self.state(h))


class OverTokens(Module):
    """What RNN, GRU and LSTM share: the cells that are applied to the tokens of a sequence, one after the other."""

    cell_class: Any
    _states_of: Any  # the states after each token, from x W + b, the initial state, and the state's weight and bias
    parts = 1  # the number of arrays of a state

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        *,
        rng: np.random.Generator,
        num_layers: int = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: float = 0.0,
        dtype: DType = np.float32,
    ) -> None:
        check_probability(dropout=dropout)
        check_positive(input_dim=input_dim, hidden_dim=hidden_dim, num_layers=num_layers)
        check_kind("True or False", bidirectional=bidirectional, reverse=reverse)
        if bidirectional and reverse:
            raise ArgumentError("bidirectional=True reads in both directions: leave out reverse=True")
        self.num_layers, self.bidirectional, self.reverse = num_layers, bidirectional, reverse
        directions = 1 + bidirectional
        widths = [input_dim] * directions + [directions * hidden_dim] * (directions * (num_layers - 1))
        cells = [self.cell_class(width, hidden_dim, rng=rng, dtype=dtype) for width in widths]
        self.cell, self.further = cells[0], cells[1:]
        if dropout and num_layers == 1:
            raise ArgumentError(
                f"dropout={dropout} acts between layers, and num_layers is 1: use nn.Dropout behind the layer"
            )
        self.dropout = Dropout(dropout, rng=rng) if dropout else None  # else none: it would draw from rng

    def cells(self) -> Iterator[tuple[Any, int, bool]]:
        """Iterate over the cells in PyTorch's order, each with its layer and whether it reads from the last token on."""
        for i, cell in enumerate([self.cell, *self.further]):
            layer, direction = divmod(i, 1 + self.bidirectional)
            yield cell, layer, self.reverse or direction == 1

    def forward(
        self, x: TensorLike, initial: TensorLike | None = None, *, key_mask: TensorLike | None = None
    ) -> tuple[Tensor, Tensor]:
        states, (last,) = self._through_layers(x, None if initial is None else (initial,), key_mask)
        return states, last

    def _through_layers(
        self, x: TensorLike, initial: Sequence[TensorLike] | None, key_mask: TensorLike | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the states of the last layer, and the arrays of the last states of all cells."""
        tokens, is_token = self._tokens(x, key_mask)
        starts, d, lasts = self._starts(tokens, initial), self.cell.hidden_dim, []
        layer_states: list[Any] = []
        for i, (cell, layer, reverse) in enumerate(self.cells()):
            both = self._run(cell, tokens, [t[i] for t in starts] if self.further else starts, is_token, reverse)
            states = both if self.parts == 1 else both[..., :d]
            layer_states.append(states if is_token is None else np.where(is_token, states, 0.0))
            lasts.append(both[:, 0 if reverse else -1])
            if len(layer_states) > self.bidirectional:
                joined: Any = np.concatenate(layer_states, axis=-1) if self.bidirectional else layer_states[0]
                between = self.dropout if layer + 1 < self.num_layers else None
                tokens, layer_states = joined if between is None else between(joined), []
        last: Any = np.stack(lasts) if self.further else lasts[0]
        return tokens, [last] if self.parts == 1 else [last[..., :d], last[..., d:]]

    def _run(self, cell: Any, x: Tensor, starts: Sequence[Any], is_token: Array | None, reverse: bool) -> Any:
        """Return the states of one cell after each token, (batch, length, parts * hidden_dim)."""
        w, b = cell.state.matrix, cell.state.bias
        return self._states_of(cell.input(x), *starts, w, b, is_token=is_token, reverse=reverse)

    def _starts(self, x: Tensor, initial: Sequence[TensorLike] | None) -> list[Tensor]:
        """Return the arrays of the states before the first token, zeros by default."""
        name, sizes = type(self).__name__, (1 + len(self.further), len(x), self.cell.hidden_dim)
        shape = sizes if self.further else sizes[1:]
        given: Sequence[Any] = [np.zeros(shape, x.dtype, like=x.data)] * self.parts if initial is None else initial
        starts = [as_input(t, x.dtype, name, "initial") for t in given]
        if len(starts) != self.parts or {t.shape for t in starts} != {shape}:
            axes = "layers and directions, batch, hidden_dim" if self.further else "batch, hidden_dim"
            form, got = ("of shape", "(h, c), each")[self.parts - 1], " and ".join(str(t.shape) for t in starts)
            raise ShapeError(f"{name} needs initial {form} ({axes}) = {shape}, got {got}")
        return starts

    def _tokens(self, x: TensorLike, key_mask: TensorLike | None) -> tuple[Tensor, Array | None]:
        """Return x (batch, length, input_dim), and which of its tokens are no padding, (batch, length, 1), or None."""
        name, (width, _) = type(self).__name__, self.cell.input.weight.shape
        x = as_input(x, self.cell.input.weight.dtype, name)
        if x.ndim != 3 or x.shape[-1] != width or not x.shape[1]:
            raise ShapeError(f"{name} needs x of shape (batch, length, {width}) with length > 0, got {x.shape}")
        is_token = as_key_mask(key_mask, x.shape[:2], x.data)
        return (x, None) if is_token is None else (without_padding(x, is_token), is_token[..., None])

    def extra_repr(self) -> str:
        layers = [f"num_layers={self.num_layers}"] if self.num_layers > 1 else []
        layers += [] if self.dropout is None else [f"dropout={self.dropout.p}"]
        return ", ".join(layers + [f"{name}=True" for name in ("bidirectional", "reverse") if getattr(self, name)])


class GRU(OverTokens):
    """A gated recurrent unit that applies a :class:`GRUCell` to the tokens of a sequence, one after the other.

    Args:
        input_dim, hidden_dim, rng: as in :class:`GRUCell`.
        num_layers: the number of layers. Each reads the states of the one before (Graves et al. 2013, arXiv:1303.5778,
            section 2).
        bidirectional: whether each layer also has a cell that reads from the last token to the first. The states of both are
            side by side, (batch, length, 2 * hidden_dim). Schuster and Paliwal 1997.
        reverse: whether to read only from the last token to the first.
        dropout: the probability with which :class:`Dropout` drops an element of the states that one layer gives to the next.

    Calling it:
        x: (batch, length, input_dim).
        initial: (batch, hidden_dim), the state before the first token; zeros by default. With several layers or directions, the
            initial and the last states are (num_layers * directions, batch, hidden_dim), in PyTorch's order.
        key_mask: (batch, length), see :class:`nn.masks.Masks`. Padding does not change the state, so the last state is that
            after the last token. The returned states are 0 at padding.

        The result is a pair: the states (batch, length, hidden_dim) and the last state (batch, hidden_dim).

    Raises:
        ArgumentError: num_layers is not a positive integer, both bidirectional and reverse are set, or dropout is no
            probability, or has no layers to act between.
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
    _states_of = gru_states


class RNN(OverTokens):
    """A plain recurrent network that applies an :class:`RNNCell` to the tokens of a sequence, one after the other.

    The arguments are those of :class:`RNNCell` and of :class:`GRU`. The call and the errors are those of :class:`GRU`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> rnn = nn.RNN(3, 4, rng=np.random.default_rng(0), activation="relu", num_layers=2, bidirectional=True)
        >>> states, last = rnn(np.ones((1, 5, 3)))
        >>> states.shape, last.shape
        ((1, 5, 8), (4, 1, 4))
    """

    cell_class: Any = RNNCell

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        *,
        rng: np.random.Generator,
        activation: str = "tanh",
        num_layers: int = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: float = 0.0,
        dtype: DType = np.float32,
    ) -> None:
        self.cell_class = partial(RNNCell, activation=activation)
        form: dict[str, Any] = {"num_layers": num_layers, "bidirectional": bidirectional, "reverse": reverse}
        super().__init__(input_dim, hidden_dim, rng=rng, dropout=dropout, dtype=dtype, **form)

    def _run(self, cell: Any, x: Tensor, starts: Sequence[Any], is_token: Array | None, reverse: bool) -> Any:
        return scan(cell.step, cell.input(x), starts[0], is_token, reverse)
