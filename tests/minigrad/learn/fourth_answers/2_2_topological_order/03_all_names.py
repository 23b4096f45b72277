"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    done = []
    while len(done) < len(parents):
        for name in parents:
            if name not in done and all(p in done for p in parents[name]):
                done.append(name)
    return done
