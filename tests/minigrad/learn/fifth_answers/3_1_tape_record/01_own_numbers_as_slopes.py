"""Task 3.1: the tape in forty lines, first step: remember."""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: "Value") -> "Value":
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: "Value") -> "Value":
        return Value(self.data * other.data, (self, other), (self.data, other.data))
