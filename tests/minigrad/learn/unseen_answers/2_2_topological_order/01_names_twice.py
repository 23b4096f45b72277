"""Task 2.2: the order of the backward pass.

A graph says which values a value was computed from: its parents. For y = (x * x) * sin(x) it is

    parents = {"y": ["a", "b"], "a": ["x", "x"], "b": ["x"], "x": []}

The backward pass may hand on the gradient of a value only when it is complete: when everything that used the value has had
its turn. A list of the values with each one after all of its parents gives that, when it is read from its end.
Such a list is called a topological order.

Write order(parents, end), which returns the list of the names that lead to `end` (with `end` itself, last):
each name once, and after all of its parents. Names that do not lead to `end` are left out.

Example: order(parents, "y") may be ["x", "a", "b", "y"] or ["x", "b", "a", "y"]; both are right.
    ["a", "x", "b", "y"] is wrong: a is computed from x.
"""


def order(parents: dict[str, list[str]], end: str) -> list[str]:
    """The names that lead to end, each after all of its parents."""
    result = []

    def visit(name):
        for parent in parents[name]:
            visit(parent)
        result.append(name)

    visit(end)
    return result
