"""Task 10.3: many heads.

With h heads, each row of d numbers is cut into h pieces of d / h numbers, and each head attends with its own piece. To compute
all heads at once, the heads become an axis of their own:

    split: (batch, n, d) -> (batch, h, n, d / h)
    merge: (batch, h, n, d / h) -> (batch, n, d), the way back

Piece 0, the first d / h numbers of each row, belongs to head 0. A reshape alone does not do it: it keeps the order of the
numbers in memory, and would mix positions with heads. First give the pieces of a row an axis of their own, beside the row's.

Write split_heads(x, heads) and merge_heads(x). (Neither computes anything, so the one is the backward pass of the other.)

Example: x = [[[1, 2, 3, 4], [5, 6, 7, 8]]] with 2 heads: [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]
"""

import numpy as np


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """From (batch, n, d) to (batch, heads, n, d / heads)."""
    batch, n, d = x.shape
    return x.reshape(batch, heads, n, d // heads)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """From (batch, heads, n, d / heads) to (batch, n, d)."""
    batch, heads, n, size = x.shape
    return x.reshape(batch, n, heads * size)
