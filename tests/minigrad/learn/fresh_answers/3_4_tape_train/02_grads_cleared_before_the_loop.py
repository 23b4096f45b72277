def to_value(v):
    return v if isinstance(v, Value) else Value(v)


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other):
        other = to_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = to_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    __radd__ = __add__
    __rmul__ = __mul__

    def order(self):
        found = []
        seen = set()
        waiting = [(self, False)]
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
        topo = self.order()
        for v in topo:
            if v.parents != ():
                v.grad = 0.0
        self.grad = 1.0
        for v in topo[::-1]:
            for parent, slope in zip(v.parents, v.slopes):
                parent.grad += v.grad * slope


def train(w, b, pairs, rate, steps):
    w.grad, b.grad = 0.0, 0.0
    for step in range(steps):
        loss = Value(0.0)
        for x, y in pairs:
            diff = w * x + b + -y
            loss = loss + diff * diff
        loss.backward()
        w.data = w.data - rate * w.grad
        b.data = b.data - rate * b.grad
