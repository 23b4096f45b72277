"""Task 3.1: the tape in forty lines, first step: remember."""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: "Value") -> "Value":
        self.data = self.data + other.data
        self.parents = (self, other)
        self.slopes = (1.0, 1.0)
        return self

    def __mul__(self, other: "Value") -> "Value":
        return Value(self.data * other.data, (self, other), (other.data, self.data))
