"""Task 3.3: the tape, third step: backward."""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other: "Value") -> "Value":
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value") -> "Value":
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self) -> "Value":
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2,))

    def order(self) -> list["Value"]:
        """Every Value that led to this one, each after all of its parents, this one last."""
        result = []
        seen = set()

        def visit(value):
            if value in seen:
                return
            seen.add(value)
            for parent in value.parents:
                visit(parent)
            result.append(value)

        visit(self)
        return result

    def backward(self) -> None:
        self.grad = 1.0
        for value in reversed(self.order()):
            for parent, slope in zip(value.parents, value.slopes):
                parent.grad += value.grad * slope
