"""Task 13.2: stop in time."""


def best_step(losses, patience):
    best = 0
    wait = 0
    for i in range(len(losses)):
        if losses[i] < losses[best]:
            best = i
            wait = 0
        elif i > 0:
            wait += 1
        if wait > patience:
            break
    return best
