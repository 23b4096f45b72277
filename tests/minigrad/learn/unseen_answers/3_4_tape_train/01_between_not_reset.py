"""Task 3.4: the tape, last step: plain numbers, a second backward, and training.

Three things make the tape of 3.3 fit for use:

1. A plain number beside a Value is a constant: 2 * w, w * 2, 1 + w and w + 1 must work.
   (Python calls w.__rmul__(2) for 2 * w, and w.__radd__(1) for 1 + w.)
2. backward() *adds* to the grad of the Values that were given (those without parents). The grads of Values in between begin
   at 0 in every backward(), or a second backward() of the same y would count them again.
3. train() walks down the slope. In each step: set w.grad and b.grad to 0, compute the loss with the tape,
       loss = (w * x + b - y) ** 2, summed over all pairs (x, y),
   call backward(), and take rate * grad away from w.data and from b.data.

Write __add__, __mul__, __radd__, __rmul__, backward() and train(). (Subtract y by adding -y, and square by multiplying.)

Example: w = Value(2.0); y = 3 * w; y.backward(); y.backward(): w.grad is 6.0
"""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other: "Value | float") -> "Value":
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value | float") -> "Value":
        if not isinstance(other, Value):
            other = Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __radd__(self, other: float) -> "Value":
        return self + other

    def __rmul__(self, other: float) -> "Value":
        return self * other

    def order(self) -> list["Value"]:
        """Every Value that led to this one, each after all of its parents, this one last."""
        found: list[Value] = []
        seen: set[Value] = set()
        waiting: list[tuple[Value, bool]] = [(self, False)]
        while waiting:
            value, parents_done = waiting.pop()
            if parents_done:
                found.append(value)
            elif value not in seen:
                seen.add(value)
                waiting.append((value, True))
                waiting += [(parent, False) for parent in value.parents]
        return found

    def backward(self) -> None:
        self.grad = 1.0
        for value in reversed(self.order()):
            for parent, slope in zip(value.parents, value.slopes):
                parent.grad += value.grad * slope


def train(w: Value, b: Value, pairs: list[tuple[float, float]], rate: float, steps: int) -> None:
    """Change w.data and b.data so that w * x + b comes closer to y, for the pairs (x, y)."""
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
