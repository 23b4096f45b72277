"""Task 13.2: stop in time."""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    lowest = losses[0]
    best = 0
    count = 0
    for i, loss in enumerate(losses):
        if i == 0:
            continue
        if loss < lowest:
            lowest = loss
            best = i
            count = 0
        else:
            count += 1
        if count > patience:
            break
    return best
