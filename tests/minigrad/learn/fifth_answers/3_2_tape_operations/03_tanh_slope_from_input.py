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
        difference = self.data - other.data
        return Value(difference, (self, other), (1.0, -1.0))

    def __truediv__(self, other: "Value") -> "Value":
        quotient = self.data / other.data
        return Value(quotient, (self, other), (1.0 / other.data, -quotient / other.data))

    def tanh(self) -> "Value":
        return Value(math.tanh(self.data), (self,), (1 - self.data**2,))

    def exp(self) -> "Value":
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))
