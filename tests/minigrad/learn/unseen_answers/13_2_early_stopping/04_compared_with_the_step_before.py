"""Task 13.2: stop in time.

While a network learns, the loss on held-out examples falls at first, and rises when the network begins to learn its examples
by heart. The weights to keep are those of the step in which it was lowest. But one cannot train on and on to see
that it does not get lower any more. So one has some patience:

Go through the held-out losses of the steps 0, 1, 2, ... and remember the step with the lowest one so far. Stop as soon as
`patience` steps in a row have brought no new lowest one. What comes after that is never seen.

Write best_step(losses, patience), which returns the number of the step with the lowest loss that was seen; if several are
equally low, the first of them. losses: a list of at least one number, patience: a whole number, at least 1.

Example: losses = [3, 2, 4, 5, 1], patience = 2: the steps 2 and 3 bring no new lowest loss, so it stops there, and the answer
    is 1. With patience = 3 it is 4.
"""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    best = 0
    worse = 0
    for i in range(1, len(losses)):
        if losses[i] < losses[best]:
            best = i
        if losses[i] < losses[i - 1]:
            worse = 0
        else:
            worse = worse + 1
        if worse >= patience:
            return best
    return best
