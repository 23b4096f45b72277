"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    queue = [end]
    found = []
    while queue:
        name = queue.pop(0)
        if name not in found:
            found.append(name)
            queue.extend(parents[name])
    found.reverse()
    return found
