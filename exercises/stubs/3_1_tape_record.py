"""Task 3.1: the tape in forty lines, first step: remember.

A Value is a number that remembers which Values it was computed from (its parents), and its slope with respect to each of
them. A number that was given, not computed, has no parents.

    a + b:  parents (a, b), slopes (1, 1)
    a * b:  parents (a, b), slopes (b's number, a's number)

Write Value: its number is `data`; `parents` and `slopes` are tuples. `+` and `*` of two Values give a new Value.
(Python calls a.__add__(b) for a + b, and a.__mul__(b) for a * b.)

Example: a = Value(2.0), b = Value(5.0): c = a * b has c.data = 10.0, c.parents = (a, b) and c.slopes = (5.0, 2.0)
"""


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data: float, parents: tuple["Value", ...] = (), slopes: tuple[float, ...] = ()) -> None:
        raise NotImplementedError

    def __add__(self, other: "Value") -> "Value":
        raise NotImplementedError

    def __mul__(self, other: "Value") -> "Value":
        raise NotImplementedError
