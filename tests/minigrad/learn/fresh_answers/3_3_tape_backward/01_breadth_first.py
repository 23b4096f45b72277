import math
from collections import deque


class Value:
    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes
        self.grad = 0.0

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2,))

    def order(self):
        queue = deque([self])
        visited = {self}
        result = []
        while queue:
            node = queue.popleft()
            result.append(node)
            for p in node.parents:
                if p not in visited:
                    visited.add(p)
                    queue.append(p)
        result.reverse()  # parents first
        return result

    def backward(self):
        self.grad = 1.0
        for node in reversed(self.order()):
            for p, s in zip(node.parents, node.slopes):
                p.grad += node.grad * s
