"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    needed = {end}
    waiting = [end]
    while waiting:
        for p in parents[waiting.pop()]:
            if p not in needed:
                needed.add(p)
                waiting.append(p)
    return [name for name in reversed(list(parents)) if name in needed]
