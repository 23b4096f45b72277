"""Task 10.4: a code for the place of each word.

Attention does not know where a word stands. So each place gets a row of d numbers, its code, which is added to the row of the
word that stands there. Places and columns are counted from 0.

The numbers of a code stand in pairs. A pair says where the hand of a clock points: first the sine of the hand's angle, then its
cosine. At place 0 all angles are 0, and from each place to the next a hand moves on by the same angle, its speed.

The hand of columns 0 and 1 has the speed 1. From each pair to the next the speed is divided by one and the same number. That
number is such that a pair that began in column d, which is past the end, would have the speed 1 / base.

If d is odd, the last pair has only its sine.

Write positions(n, d, base), which returns the codes of the first n places, one below the other: an array of shape (n, d).

Example: n = 2, d = 4, base = 100: the speeds are 1 and 0.1, and the codes [[0, 1, 0, 1], [0.8415, 0.5403, 0.0998, 0.995]]
"""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    raise NotImplementedError
