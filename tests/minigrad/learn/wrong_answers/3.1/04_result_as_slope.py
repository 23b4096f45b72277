class Value:
    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other):
        total = self.data + other.data
        return Value(total, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        product = self.data * other.data
        return Value(product, (self, other), (product * other.data, product * self.data))
