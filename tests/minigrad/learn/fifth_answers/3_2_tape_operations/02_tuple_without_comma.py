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
        return Value(self.data - other.data, (self, other), (1, -1))

    def __truediv__(self, other: "Value") -> "Value":
        return Value(self.data / other.data, (self, other), (1 / other.data, -self.data / other.data**2))

    def tanh(self) -> "Value":
        t = math.tanh(self.data)
        slope = 1 - t**2
        return Value(t, (self,), (slope))

    def exp(self) -> "Value":
        e = math.exp(self.data)
        return Value(e, (self,), (e))
