"""Task 12.2: the next token, with a temperature.

The model gives each token of its vocabulary a number, the logits. The temperature says how daring the choice is: the logits are
divided by it, and softmax makes probabilities of what comes out.

A low temperature prefers the likely tokens, a high one makes all nearly equal. At temperature 0 there is no choice: the token
with the largest logit is taken (and nothing is divided by 0).

To choose with probabilities p, take u, a number from 0 to 1 (below 1), and go along the running sums p[0], p[0] + p[1], ...:
the token is the first whose running sum is larger than u.

Write probabilities(logits, temperature), for a temperature above 0, and sample(logits, temperature, u), which returns the
number of the token, an int. logits: (tokens,). The numbers in logits may be as large as 1000.

Example: logits = [0, 0, 0], temperature = 1: the running sums are 1/3, 2/3, 1, and u = 0.5 gives token 1
"""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    z = logits * temperature
    e = np.exp(z - z.max())
    return e / e.sum()


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    if temperature == 0:
        return int(np.argmax(logits))
    total = 0.0
    for token, p in enumerate(probabilities(logits, temperature)):
        total += p
        if total > u:
            return token
    return len(logits) - 1
