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
        found = []
        seen = set()
        waiting = [self]
        while waiting:
            value = waiting.pop()
            if value not in seen:
                seen.add(value)
                found.append(value)
                waiting.extend(value.parents)
        return found[::-1]

    def backward(self) -> None:
        self.grad = 1.0
        for value in self.order()[::-1]:
            for i in range(len(value.parents)):
                value.parents[i].grad += value.grad * value.slopes[i]
