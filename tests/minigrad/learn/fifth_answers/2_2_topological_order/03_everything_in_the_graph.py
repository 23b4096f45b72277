"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    done = []
    left = list(parents)
    while left:
        for name in left:
            if all(p in done for p in parents[name]):
                done.append(name)
                left.remove(name)
                break
    done.remove(end)
    done.append(end)
    return done
