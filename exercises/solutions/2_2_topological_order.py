"""A solution of 2.2."""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name not in found:
            for parent in parents[name]:
                visit(parent)
            found.append(name)

    visit(end)
    return found
