"""Task 2.2: the order of the backward pass."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    names = []

    def visit(name):
        if name in names:
            return
        names.append(name)
        for parent in parents[name]:
            visit(parent)

    visit(end)
    return names[::-1]
