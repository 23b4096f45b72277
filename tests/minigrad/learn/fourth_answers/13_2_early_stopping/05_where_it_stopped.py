"""Task 13.2: stop in time."""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    lowest = losses[0]
    waited = 0
    step = 0
    while step + 1 < len(losses) and waited < patience:
        step += 1
        if losses[step] < lowest:
            lowest = losses[step]
            waited = 0
        else:
            waited += 1
    return step
