"""Task 3.1: the tape in forty lines, first step: remember."""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data, self.parents, self.slopes = data, parents, slopes

    def __add__(self, other: "Value") -> "Value":
        a, b = self.data, other.data
        return Value(a + b, (a, b), (1, 1))

    def __mul__(self, other: "Value") -> "Value":
        a, b = self.data, other.data
        return Value(a * b, (a, b), (b, a))
