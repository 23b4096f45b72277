"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    result = []
    for parent in parents[end]:
        result += order(parents, parent)
    result.append(end)
    return result
