import math


class Value:
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
        # 再帰を使わずに並べる
        found, seen, waiting = [], set(), [(self, False)]
        while waiting:
            value, parents_done = waiting.pop()
            if parents_done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting.append((value, True))
                waiting.extend((p, False) for p in value.parents)
        return found

    def backward(self):
        self.grad = 1.0
        for value in reversed(self.order()):
            for parent, slope in zip(value.parents, value.slopes):
                parent.grad += self.grad * slope
