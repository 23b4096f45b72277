class Value:
    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    __radd__ = __add__
    __rmul__ = __mul__

    def order(self):
        found, seen, waiting = [], set(), [(self, False)]
        while waiting:
            value, parents_done = waiting.pop()
            if parents_done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting.append((value, True))
                waiting += [(parent, False) for parent in value.parents]
        return found

    def backward(self):
        tape = self.order()
        for v in tape:
            v.grad = 0.0
        self.grad = 1.0
        for v in tape[::-1]:
            for p, s in zip(v.parents, v.slopes):
                p.grad += v.grad * s


def train(w, b, pairs, rate, steps):
    for _ in range(steps):
        w.grad = b.grad = 0.0
        loss = 0
        for x, y in pairs:
            e = w * x + b + (-y)
            loss = e * e + loss
        loss.backward()
        w.data = w.data - rate * w.grad
        b.data = b.data - rate * b.grad
