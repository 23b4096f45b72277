"""Task 7.3: find where a NaN is made."""

import numpy as np

import minigrad as mg


def loss_of(words: np.ndarray, W: mg.Tensor) -> mg.Tensor:
    """By how much the rows of words @ W are longer than 1, added up."""
    x = words @ W
    squares = np.sum(x * x, axis=1)
    length = np.sqrt(squares)
    return np.sum(np.where(length > 1, length - 1, 0.0))


def gradient(words: np.ndarray, W: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss, and the gradient of W."""
    weights = mg.Tensor(W, requires_grad=True, name="W")
    with mg.trace():
        loss = loss_of(words, weights)
    loss.backward()
    return loss.item(), np.nan_to_num(weights.grad.data)
