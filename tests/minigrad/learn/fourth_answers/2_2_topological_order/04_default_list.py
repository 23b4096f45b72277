"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str, found: list[str] = []) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    if end not in found:
        for parent in parents[end]:
            order(parents, parent)
        found.append(end)
    return found
