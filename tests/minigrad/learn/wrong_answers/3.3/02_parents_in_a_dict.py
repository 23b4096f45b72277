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
        done, out, todo = set(), [], [self]
        while todo:
            v = todo[-1]
            missing = [p for p in v.parents if p not in done]
            if missing:
                todo.extend(missing)
            else:
                todo.pop()
                if v not in done:
                    done.add(v)
                    out.append(v)
        return out

    def backward(self):
        self.grad = 1.0
        for v in self.order()[::-1]:
            for p, slope in dict(zip(v.parents, v.slopes)).items():
                p.grad += v.grad * slope
