"""Task 3.3: the tape, third step: backward.

Every Value now has a `grad`, 0 at first. y.backward() puts the derivative of y by each Value into its grad:

    y.grad = 1
    for each Value that led to y, in reversed topological order (task 2.2):
        for each of its parents:  parent.grad += value.grad * slope

Note the +=: a Value that is used twice gets two addends (task 2.1), also where both are the same Value, as in a * a.

Write order() and backward(). A Value may be used as a key of a dict and put into a set.
A program may be long: 5,000 steps in a row must work. Python does not allow a function to call itself so deep, so keep a list
of what is waiting instead.

Example: a = Value(3.0); y = a * a + a; y.backward(): a.grad is 7.0
"""

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
        waiting = [(self, False)]
        while waiting:
            value, ready = waiting.pop()
            if ready:
                result.append(value)
                continue
            if value in seen:
                continue
            seen.add(value)
            waiting.append((value, True))
            for parent in value.parents:
                waiting.append((parent, False))
        return result

    def backward(self) -> None:
        self.grad = 1.0
        for value in self.order():
            for parent, slope in zip(value.parents, value.slopes):
                parent.grad += value.grad * slope
