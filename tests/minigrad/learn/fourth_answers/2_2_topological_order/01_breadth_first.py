"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    found = [end]
    queue = [end]
    while queue:
        name = queue.pop(0)
        for parent in parents[name]:
            if parent not in found:
                found.append(parent)
                queue.append(parent)
    return found[::-1]
