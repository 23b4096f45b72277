import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other: "Value") -> "Value":
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value") -> "Value":
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self) -> "Value":
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2,))

    def order(self) -> list["Value"]:
        """Every Value that led to this one, each after all of its parents, this one last."""
        result = []
        seen = set()
        stack = [(self, 0)]
        seen.add(self)
        while stack:
            node, i = stack.pop()
            if i < len(node.parents):
                stack.append((node, i + 1))
                p = node.parents[i]
                if p not in seen:
                    seen.add(p)
                    stack.append((p, 0))
            else:
                result.append(node)
        return result

    def backward(self) -> None:
        self.grad = 1.0
        for v in reversed(self.order()):
            for p, s in zip(v.parents, v.slopes):
                p.grad = v.grad * s
