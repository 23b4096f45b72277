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
        # 商の微分
        first = 1 / other.data
        second = (-self.data / other.data) ** 2
        return Value(self.data / other.data, (self, other), (first, second))

    def tanh(self):
        return Value(math.tanh(self.data), (self,), (1 - math.tanh(self.data) ** 2,))

    def exp(self):
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))
