"""Task 3.3: the tape, third step: backward."""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2,))

    def order(self):
        found, seen = [], set()
        waiting = [(self, False)]
        while waiting:
            value, done = waiting.pop()
            if done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting.append((value, True))
                for parent in value.parents:
                    waiting.append((parent, False))
        return found

    def backward(self):
        for value in reversed(self.order()):
            for i in range(len(value.parents)):
                value.parents[i].grad += value.grad * value.slopes[i]
