"""The forward and the backward pass of a GRU over a whole sequence, as loops over plain NumPy arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.internal import Array


def time_first(array: Array, reverse: bool) -> Array:
    """Return a view (length, batch, ...) of (batch, length, ...), in the order in which the GRU reads the tokens."""
    array = array.swapaxes(0, 1)
    return array[::-1] if reverse else array


def batch_first(array: Array, reverse: bool) -> Array:
    """Return a contiguous (batch, length, ...) array: undo :func:`time_first`."""
    return np.ascontiguousarray((array[::-1] if reverse else array).swapaxes(0, 1))


def gru_forward(
    images: Array, initial: Array, weight: Array, bias: Array, is_token: Array | None = None, reverse: bool = False
) -> Any:
    """Return the states (batch, length, d), and the arrays for gru_backward; ``images`` is ``x W + b``, the input map."""
    batch, length, width = images.shape
    d = width // 3
    gates = np.array(time_first(images, reverse))  # the loop replaces x W + b by r, z and n, in place
    memory = np.empty((length, batch, d), images.dtype)  # the candidate's third of `h @ weight + bias`
    states = np.empty((length + 1, batch, d), images.dtype)
    states[0] = initial
    tokens = None if is_token is None else time_first(is_token, reverse)
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
    return batch_first(states[1:], reverse), (gates, memory, states)


def gru_backward(
    g: Array, needs: Sequence[bool], weight: Array, saved: Any, is_token: Array | None, reverse: bool
) -> tuple[Any, ...]:
    """Return the gradients of the images, the initial state, the weight and the bias, each None if not needed."""
    gates, memory, states = saved
    length, batch, d = memory.shape
    arriving = time_first(g, reverse)
    tokens = None if is_token is None else time_first(is_token, reverse)
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
        batch_first(d_images, reverse) if needs[0] else None,
        back if needs[1] else None,
        states[:-1].reshape(length * batch, d).T.dot(rows) if needs[2] else None,
        rows.sum(axis=0) if needs[3] else None,
    )
