"""Task 3.2: the tape, second step: more operations."""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: "Value") -> "Value":
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value") -> "Value":
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __sub__(self, other: "Value") -> "Value":
        return Value(self.data - other.data, (self, other), (1.0, -1.0))

    def __truediv__(self, other: "Value") -> "Value":
        a, b = self.data, other.data
        return Value(a / b, (self, other), (1 / b, a / b**2))

    def tanh(self) -> "Value":
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t * t,))

    def exp(self) -> "Value":
        e = math.exp(self.data)
        return Value(e, (self,), (e,))
