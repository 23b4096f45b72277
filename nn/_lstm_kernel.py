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
    """Return states and cells, (batch, length, 2 d), and the arrays for lstm_backward; ``images`` is ``x W + b``."""
    batch, length, width = images.shape
    d = width // 4
    gates = np.array(time_first(images, reverse))  # the loop replaces x W + b by i, f, g and o, in place
    # the state and the cell before each token, and after the last
    memory = np.empty((length + 1, batch, 2 * d), images.dtype)
    memory[0, :, :d], memory[0, :, d:] = initial, cell
    squashed = np.empty((length, batch, d), images.dtype)  # tanh of each new cell
    scale, shift = np.full(width, 0.5, images.dtype), np.full(width, 0.5, images.dtype)
    scale[2 * d : 3 * d], shift[2 * d : 3 * d] = 1, 0  # sigmoid(a) = (1 + tanh(a/2)) / 2, and g is a tanh
    tokens = None if is_token is None else time_first(is_token, reverse)
    for t in range(length):
        before, gate, new = memory[t], gates[t], memory[t + 1]
        gate += before[:, :d].dot(weight)
        gate += bias
        gate *= scale
        np.tanh(gate, out=gate)
        gate *= scale
        gate += shift
        np.multiply(gate[:, d : 2 * d], before[:, d:], out=new[:, d:])
        new[:, d:] += gate[:, :d] * gate[:, 2 * d : 3 * d]
        np.tanh(new[:, d:], out=squashed[t])
        np.multiply(gate[:, 3 * d :], squashed[t], out=new[:, :d])
        if tokens is not None:
            np.copyto(new, before, where=~tokens[t])
    return batch_first(memory[1:], reverse), (gates, memory, squashed)


def lstm_backward(
    g: Array, needs: Sequence[bool], weight: Array, saved: Any, is_token: Array | None, reverse: bool
) -> tuple[Any, ...]:
    """Return the gradients of the images, the initial state and cell, the weight and the bias, each None if not needed."""
    gates, memory, squashed = saved
    length, batch, d = squashed.shape
    arriving = time_first(g, reverse)
    tokens = None if is_token is None else time_first(is_token, reverse)
    d_images = np.empty(gates.shape, g.dtype)  # also the gradient of `h @ weight + bias`
    back = np.zeros((batch, 2 * d), g.dtype)
    for t in reversed(range(length)):
        i, f, candidate, o = (gates[t, :, k * d : (k + 1) * d] for k in range(4))
        total, image = arriving[t] + back, d_images[t]
        kept: Any = 0
        if tokens is not None:
            kept, total = np.where(tokens[t], 0, total), np.where(tokens[t], total, 0)
        of_h, of_cell = total[:, :d], total[:, d:]
        of_cell = of_cell + of_h * o * (1 - squashed[t] * squashed[t])
        np.multiply(of_cell, candidate * i * (1 - i), out=image[:, :d])
        np.multiply(of_cell, memory[t, :, d:] * f * (1 - f), out=image[:, d : 2 * d])
        np.multiply(of_cell, i * (1 - candidate * candidate), out=image[:, 2 * d : 3 * d])
        np.multiply(of_h, squashed[t] * o * (1 - o), out=image[:, 3 * d :])
        back = np.empty_like(back)
        back[:, :d], back[:, d:] = image.dot(weight.T), of_cell * f
        back += kept
    rows = d_images.reshape(length * batch, 4 * d)
    return (
        batch_first(d_images, reverse) if needs[0] else None,
        back[:, :d].copy() if needs[1] else None,
        back[:, d:].copy() if needs[2] else None,
        memory[:-1, :, :d].reshape(length * batch, d).T.dot(rows) if needs[3] else None,
        rows.sum(axis=0) if needs[4] else None,
    )
