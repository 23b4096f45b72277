"""Task 7.3: find where a NaN is made.

Each row of words is a word, and a row of zeros is a place without a word. Only rows that W makes longer than 1 cost anything:

    x = words @ W
    length = the root of the sum of x ** 2, for each row
    loss = the sum of length - 1 over the rows with length > 1

This program runs on minigrad's Tensors, and gradient() is right. The loss is right, too. But as soon as one row of words is all
zeros, *every* number in the gradient of W is NaN (not a number), also what comes from the other words.

Find the step that makes the first NaN: in gradient(), after backward(), print what mg.find_nan(loss) returns, and check the
file. What a file prints stands below the check's message. Predict first: which step is it, and is it forward or backward?
Then fix loss_of(). Do not fix the result: what the other words give is lost in a NaN, and a 0 in its place is wrong.

Shapes: words (rows, 2), W (2, columns); the loss is a number, and the gradient of W is an array.

Example: words = [[3, 4], [0, 0]], W = [[1, 0], [0, 1]]: the lengths are 5 and 0, the loss is 4, and the gradient of W is
    [[1.8, 2.4], [2.4, 3.2]], the same as without the second word
"""

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
    return loss.item(), weights.grad.data
