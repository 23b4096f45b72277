import math


class Value:
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
        return Value(self.data / other.data, (self, other), (other.data, -self.data / other.data**2))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), (1 - y**2,))

    def exp(self):
        y = math.exp(self.data)
        return Value(y, (self,), (y,))
