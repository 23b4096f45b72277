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
        found, seen, waiting = [], set(), [(self, False)]
        while waiting:
            v, ready = waiting.pop()
            if ready:
                found.append(v)
                continue
            if v in seen:
                continue
            seen.add(v)
            waiting.append((v, True))
            for p in v.parents:
                waiting.append((p, False))
        return found

    def backward(self):
        self.grad = 1.0
        for v in reversed(self.order()):
            for i in range(len(v.parents)):
                v.parents[i].grad += v.slopes[i]
