"""The forward and the backward pass of a GRU and of an LSTM over a whole sequence, as loops over plain NumPy arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.recurrent import gru_states, lstm_states


def _time_first(array: Array, reverse: bool) -> Array:
    """Return a view (length, batch, ...) of (batch, length, ...), in the order in which the network reads the tokens."""
    array = array.swapaxes(0, 1)
    return array[::-1] if reverse else array


def _batch_first(array: Array, reverse: bool) -> Array:
    """Return a contiguous (batch, length, ...) array: undo :func:`_time_first`."""
    return np.ascontiguousarray((array[::-1] if reverse else array).swapaxes(0, 1))


def _gru_forward(
    images: Array, initial: Array, weight: Array, bias: Array, is_token: Array | None = None, reverse: bool = False
) -> Any:
    """Return the states (batch, length, d), and the arrays for _gru_backward; ``images`` is ``x W + b``, the input map."""
    batch, length, width = images.shape
    d = width // 3
    gates = np.array(_time_first(images, reverse))  # the loop replaces x W + b by r, z and n, in place
    memory = np.empty((length, batch, d), images.dtype)  # the candidate's third of `h @ weight + bias`
    states = np.empty((length + 1, batch, d), images.dtype)
    states[0] = initial
    tokens = None if is_token is None else _time_first(is_token, reverse)
    for t in range(length):
        h, gate = states[t], gates[t]
        product = h.dot(weight)
        product += bias
        first, candidate = gate[:, : 2 * d], gate[:, 2 * d :]
        first += product[:, : 2 * d]
        first *= 0.5  # sigmoid(a) = (1 + tanh(a/2)) / 2
        np.tanh(first, out=first)
        first += 1
        first *= 0.5
        memory[t] = product[:, 2 * d :]
        candidate += gate[:, :d] * memory[t]
        np.tanh(candidate, out=candidate)
        new = h - candidate
        new *= gate[:, d : 2 * d]
        new += candidate
        states[t + 1] = new if tokens is None else np.where(tokens[t], new, h)
    return _batch_first(states[1:], reverse), (gates, memory, states)


def _gru_backward(
    g: Array, needs: Sequence[bool], weight: Array, saved: Any, is_token: Array | None, reverse: bool
) -> tuple[Any, ...]:
    """Return the gradients of the images, the initial state, the weight and the bias, each None if not needed."""
    gates, memory, states = saved
    length, batch, d = memory.shape
    arriving = _time_first(g, reverse)
    tokens = None if is_token is None else _time_first(is_token, reverse)
    r, z, n = (gates[:, :, k * d : (k + 1) * d] for k in range(3))
    # The slopes of all tokens at once: each gate's sum by what arrives at the state, and r's by what arrives at n's sum.
    d_images = np.empty(gates.shape, g.dtype)
    of_r, of_z, of_n = (d_images[:, :, k * d : (k + 1) * d] for k in range(3))
    np.multiply(1 - z, 1 - n * n, out=of_n)
    np.multiply(states[:-1] - n, z * (1 - z), out=of_z)
    np.multiply(memory, r * (1 - r), out=of_r)
    d_products = np.empty(gates.shape, g.dtype)  # the gradient of `h @ weight + bias`
    back = np.zeros((batch, d), g.dtype)
    for t in reversed(range(length)):
        total = arriving[t] + back
        of_new = total if tokens is None else np.where(tokens[t], total, 0)
        image, product = d_images[t], d_products[t]
        image.reshape(batch, 3, d)[:, 1:] *= of_new[:, None]
        of_r[t] *= of_n[t]
        product[:, : 2 * d] = image[:, : 2 * d]
        np.multiply(of_n[t], r[t], out=product[:, 2 * d :])
        back = product.dot(weight.T)
        back += of_new * z[t]
        if tokens is not None:
            back += np.where(tokens[t], 0, total)
    rows = d_products.reshape(length * batch, 3 * d)
    return (
        _batch_first(d_images, reverse) if needs[0] else None,
        back if needs[1] else None,
        states[:-1].reshape(length * batch, d).T.dot(rows) if needs[2] else None,
        rows.sum(axis=0) if needs[3] else None,
    )


gru_states.kernel(np.ndarray, _gru_forward, _gru_backward)


def _lstm_forward(
    images: Array,
    initial: Array,
    cell: Array,
    weight: Array,
    bias: Array,
    is_token: Array | None = None,
    reverse: bool = False,
) -> Any:
    """Return states and cells, (batch, length, 2 d), and the arrays for _lstm_backward; ``images`` is ``x W + b``.

    Each gate has an array (batch, d) of its own: NumPy is slow on columns of a common one.
    """
    batch, length, width = images.shape
    d = width // 4
    # sigmoid(a) = (1 + tanh(a/2)) / 2, and g is a tanh
    halves = np.array([0.5, 0.5, 1, 0.5], images.dtype)[:, None, None]
    scale = np.array(np.broadcast_to(halves, (4, batch, d)))
    shift = 1 - scale  # 0 for g
    weights = _blocks_of(weight) * halves  # halves are exact, so they may be taken before the sum
    # The loop replaces x W + b by i, f, g and o, in place.
    gates = np.array(_time_first(images + bias, reverse).reshape(length, batch, 4, d).swapaxes(1, 2), order="C")
    gates *= scale
    states, cells = np.empty((2, length + 1, batch, d), images.dtype)  # before each token, and after the last
    states[0], cells[0] = initial, cell
    squashed = np.empty((length, batch, d), images.dtype)  # tanh of each new cell
    tokens = None if is_token is None else _time_first(is_token, reverse)
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
    return _batch_first(both, reverse), (gates, states, cells, squashed)


def _blocks_of(weight: Array) -> Array:
    """Return (4, d, d), the matrix of each gate, of the weight (d, 4 d)."""
    return np.ascontiguousarray(weight.reshape(len(weight), 4, -1).swapaxes(0, 1))


def _lstm_backward(
    g: Array, needs: Sequence[bool], weight: Array, saved: Any, is_token: Array | None, reverse: bool
) -> tuple[Any, ...]:
    """Return the gradients of the images, the initial state and cell, the weight and the bias, each None if not needed."""
    gates, states, cells, squashed = saved
    length, batch, d = squashed.shape
    of_states, of_cells = (np.array(_time_first(part, reverse), order="C") for part in (g[..., :d], g[..., d:]))
    tokens = None if is_token is None else _time_first(is_token, reverse)
    back_weights = np.ascontiguousarray(_blocks_of(weight).swapaxes(1, 2))
    i, f, candidate, o = gates.swapaxes(0, 1)
    # The slopes of all tokens at once: the cell's by the state, and each gate's sum by what arrives at the cell or the state.
    of_squashed = o * (1 - squashed * squashed)
    d_gates = 1 - gates  # the loop replaces the slopes by the gradient of `h @ weight + bias`
    d_gates *= gates
    d_gates *= np.stack((candidate, cells[:-1], candidate, squashed), axis=1)
    np.multiply(i, 1 - candidate * candidate, out=d_gates[:, 2])
    back_h, back_c = np.zeros((2, batch, d), g.dtype)
    products, share = np.empty((4, batch, d), g.dtype), np.empty((batch, d), g.dtype)
    for t in reversed(range(length)):
        of_h, of_cell, d_gate = of_states[t], of_cells[t], d_gates[t]
        of_h += back_h
        of_cell += back_c
        if tokens is not None:
            kept_h, kept_c = np.where(tokens[t], 0, of_h), np.where(tokens[t], 0, of_cell)
            of_h, of_cell = np.where(tokens[t], of_h, 0), np.where(tokens[t], of_cell, 0)
        of_cell += np.multiply(of_h, of_squashed[t], out=share)
        d_gate[:3] *= of_cell
        d_gate[3] *= of_h
        np.add.reduce(np.matmul(d_gate, back_weights, out=products), out=back_h)
        np.multiply(of_cell, f[t], out=back_c)
        if tokens is not None:
            back_h += kept_h
            back_c += kept_c
    d_images = _batch_first(d_gates.swapaxes(1, 2).reshape(length, batch, 4 * d), reverse)
    rows = d_images.reshape(batch * length, 4 * d)
    return (
        d_images if needs[0] else None,
        back_h if needs[1] else None,
        back_c if needs[2] else None,
        _batch_first(states[:-1], reverse).reshape(batch * length, d).T.dot(rows) if needs[3] else None,
        rows.sum(axis=0) if needs[4] else None,
    )


lstm_states.kernel(np.ndarray, _lstm_forward, _lstm_backward)
