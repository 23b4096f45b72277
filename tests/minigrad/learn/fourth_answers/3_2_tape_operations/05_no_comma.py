"""Task 3.2: the tape, second step: more operations."""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __sub__(self, other):
        return Value(self.data - other.data, (self, other), (1.0, -1.0))

    def __truediv__(self, other):
        return Value(self.data / other.data, (self, other), (1 / other.data, -self.data / other.data**2))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2))

    def exp(self):
        e = math.exp(self.data)
        return Value(e, (self,), (e))
