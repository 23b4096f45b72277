"""Task 13.2: stop in time."""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    best = 0
    waited = 0
    for i in range(1, len(losses)):
        if losses[i] < losses[best]:
            best = i
        if losses[i] < losses[i - 1]:
            waited = 0
        else:
            waited += 1
        if waited >= patience:
            return best
    return best
