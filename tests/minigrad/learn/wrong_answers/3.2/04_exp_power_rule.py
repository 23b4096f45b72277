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
        inverse = 1 / other.data
        return Value(self.data * inverse, (self, other), (inverse, -self.data * inverse * inverse))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), ((1 + t) * (1 - t),))

    def exp(self):
        x = self.data
        return Value(math.exp(x), (self,), (x * math.exp(x - 1),))
