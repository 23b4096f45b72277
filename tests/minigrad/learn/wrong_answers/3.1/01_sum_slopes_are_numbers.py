class Value:
    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: "Value") -> "Value":
        out = Value(self.data + other.data)
        out.parents = (self, other)
        out.slopes = (other.data, self.data)
        return out

    def __mul__(self, other: "Value") -> "Value":
        out = Value(self.data * other.data)
        out.parents = (self, other)
        out.slopes = (other.data, self.data)
        return out
