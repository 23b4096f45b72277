class Value:
    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    @staticmethod
    def wrap(v):
        return v if isinstance(v, Value) else Value(v)

    def __add__(self, other):
        other = Value.wrap(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = Value.wrap(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

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
        values = self.order()
        for v in values:
            if v.parents:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(values):
            for p, s in zip(v.parents, v.slopes):
                p.grad += v.grad * s


def train(w, b, pairs, rate, steps):
    for _ in range(steps):
        w.grad, b.grad = 0.0, 0.0
        errors = [w * x + b + (-y) for x, y in pairs]
        loss = sum(e * e for e in errors)
        loss = loss * (1 / len(pairs))
        loss.backward()
        w.data -= rate * w.grad
        b.data -= rate * b.grad
