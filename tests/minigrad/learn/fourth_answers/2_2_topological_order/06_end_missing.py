"""Task 2.2: the order of the backward pass."""


def order(parents, end):
    seen = set()
    result = []

    def walk(name):
        for parent in parents[name]:
            if parent not in seen:
                seen.add(parent)
                walk(parent)
                result.append(parent)

    walk(end)
    return result
