"""Task 3.4: the tape, last step: plain numbers, a second backward, and training."""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other: "Value | float") -> "Value":
        if not isinstance(other, Value):
            other = Value(float(other))
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value | float") -> "Value":
        if not isinstance(other, Value):
            other = Value(float(other))
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __radd__(self, other: float) -> "Value":
        return self.__add__(other)

    def __rmul__(self, other: float) -> "Value":
        return self.__mul__(other)

    def order(self) -> list["Value"]:
        """Every Value that led to this one, each after all of its parents, this one last."""
        found: list[Value] = []
        seen: set[Value] = set()
        waiting: list[tuple[Value, bool]] = [(self, False)]
        while waiting:
            value, parents_done = waiting.pop()
            if parents_done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting.append((value, True))
                waiting += [(parent, False) for parent in value.parents]
        return found

    def backward(self) -> None:
        nodes = self.order()
        for node in nodes:
            if len(node.parents) > 0:
                node.grad = 0.0
        self.grad += 1.0
        for node in nodes[::-1]:
            for parent, slope in zip(node.parents, node.slopes):
                parent.grad += slope * node.grad


def train(w: Value, b: Value, pairs: list[tuple[float, float]], rate: float, steps: int) -> None:
    """Change w.data and b.data so that w * x + b comes closer to y, for the pairs (x, y)."""
    w.grad = 0.0
    b.grad = 0.0
    for _ in range(steps):
        loss = Value(0.0)
        for x, y in pairs:
            diff = w * x + b + (-1) * y
            loss = loss + diff * diff
        loss.backward()
        w.data -= rate * w.grad
        b.data -= rate * b.grad
