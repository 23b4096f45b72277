"""The forward and the backward pass of an LSTM over a whole sequence, as loops over plain NumPy arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.internal import Array

from ._gru_kernel import batch_first, time_first


def lstm_forward(
    images: Array,
    initial: Array,
    cell: Array,
    weight: Array,
    bias: Array,
    is_token: Array | None = None,
    reverse: bool = False,
) -> Any:
    """Return states and cells, (batch, length, 2 d), and the arrays for lstm_backward; ``images`` is ``x W + b``.

    Each gate has an array (batch, d) of its own: NumPy is slow on columns of a common one.
    """
    batch, length, width = images.shape
    d = width // 4
    halves = np.array([0.5, 0.5, 1, 0.5], images.dtype)[
        :, None, None
    ]  # sigmoid(a) = (1 + tanh(a/2)) / 2, and g is a tanh
    scale = np.array(np.broadcast_to(halves, (4, batch, d)))
    shift = 1 - scale  # 0 for g
    weights = blocks_of(weight) * halves  # halves are exact, so they may be taken before the sum
    # The loop replaces x W + b by i, f, g and o, in place.
    gates = np.array(time_first(images + bias, reverse).reshape(length, batch, 4, d).swapaxes(1, 2), order="C")
    gates *= scale
    states, cells = np.empty((2, length + 1, batch, d), images.dtype)  # before each token, and after the last
    states[0], cells[0] = initial, cell
    squashed = np.empty((length, batch, d), images.dtype)  # tanh of each new cell
    tokens = None if is_token is None else time_first(is_token, reverse)
    for t in range(length):
        gate = gates[t]
        gate += np.matmul(states[t], weights)
        np.tanh(gate, out=gate)
        gate *= scale
        gate += shift
        i, f, candidate, o = gate
        np.multiply(f, cells[t], out=cells[t + 1])
        cells[t + 1] += i * candidate
        np.tanh(cells[t + 1], out=squashed[t])
        np.multiply(o, squashed[t], out=states[t + 1])
        if tokens is not None:
            for kept in (states, cells):
                np.copyto(kept[t + 1], kept[t], where=~tokens[t])
    both = np.concatenate([states[1:], cells[1:]], axis=-1)
    return batch_first(both, reverse), (gates, states, cells, squashed)


def blocks_of(weight: Array) -> Array:
    """Return (4, d, d), the matrix of each gate, of the weight (d, 4 d)."""
    return np.ascontiguousarray(weight.reshape(len(weight), 4, -1).swapaxes(0, 1))


def lstm_backward(
    g: Array, needs: Sequence[bool], weight: Array, saved: Any, is_token: Array | None, reverse: bool
) -> tuple[Any, ...]:
    """Return the gradients of the images, the initial state and cell, the weight and the bias, each None if not needed."""
    gates, states, cells, squashed = saved
    length, batch, d = squashed.shape
    of_states, of_cells = (np.ascontiguousarray(time_first(part, reverse)) for part in (g[..., :d], g[..., d:]))
    tokens = None if is_token is None else time_first(is_token, reverse)
    back_weights = np.ascontiguousarray(blocks_of(weight).swapaxes(1, 2))
    i, f, candidate, o = gates.swapaxes(0, 1)
    # The slopes of all tokens at once: the cell's by the state, and each gate's sum by what arrives at the cell or the state.
    of_squashed = o * (1 - squashed * squashed)
    slopes = (
        candidate * i * (1 - i),
        cells[:-1] * f * (1 - f),
        i * (1 - candidate * candidate),
        squashed * o * (1 - o),
    )
    d_gates = np.stack(slopes, axis=1)  # the loop replaces them by the gradient of `h @ weight + bias`
    back_h, back_c = np.zeros((2, batch, d), g.dtype)
    for t in reversed(range(length)):
        of_h, of_cell = of_states[t] + back_h, of_cells[t] + back_c
        if tokens is not None:
            kept_h, kept_c = np.where(tokens[t], 0, of_h), np.where(tokens[t], 0, of_cell)
            of_h, of_cell = np.where(tokens[t], of_h, 0), np.where(tokens[t], of_cell, 0)
        of_cell += of_h * of_squashed[t]
        d_gates[t, :3] *= of_cell
        d_gates[t, 3] *= of_h
        back_h = np.matmul(d_gates[t], back_weights).sum(axis=0)
        back_c = of_cell * f[t]
        if tokens is not None:
            back_h, back_c = back_h + kept_h, back_c + kept_c
    d_images = batch_first(d_gates.swapaxes(1, 2).reshape(length, batch, 4 * d), reverse)
    rows = d_images.reshape(batch * length, 4 * d)
    return (
        d_images if needs[0] else None,
        back_h if needs[1] else None,
        back_c if needs[2] else None,
        batch_first(states[:-1], reverse).reshape(batch * length, d).T.dot(rows) if needs[3] else None,
        rows.sum(axis=0) if needs[4] else None,
    )
