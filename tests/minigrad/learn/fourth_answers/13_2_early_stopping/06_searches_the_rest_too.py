"""Task 13.2: stop in time."""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    since = 0
    low = losses[0]
    for loss in losses[1:]:
        if loss < low:
            low = loss
            since = 0
        else:
            since += 1
        if since == patience:
            break
    return losses.index(min(losses))
