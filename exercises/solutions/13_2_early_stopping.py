"""A solution of 13.2."""


def best_step(losses: list[float], patience: int) -> int:
    """The step whose weights one keeps."""
    best = 0
    for step, loss in enumerate(losses):
        if loss < losses[best]:
            best = step
        elif step - best >= patience:
            break
    return best
