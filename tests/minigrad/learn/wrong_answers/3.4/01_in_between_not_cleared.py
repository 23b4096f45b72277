class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def order(self):
        """Every Value that led to this one, each after all of its parents, this one last."""
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
        values = self.order()
        self.grad = 1.0
        for value in reversed(values):
            for parent, slope in zip(value.parents, value.slopes):
                parent.grad += value.grad * slope


def train(w, b, pairs, rate, steps):
    for _ in range(steps):
        w.grad = 0.0
        b.grad = 0.0
        loss = Value(0.0)
        for x, y in pairs:
            error = w * x + b + -y
            loss = loss + error * error
        loss.backward()
        w.data -= rate * w.grad
        b.data -= rate * b.grad
