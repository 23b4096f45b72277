class Value:
    # 値と、親と、傾きを覚える
    def __init__(self, data, parents=(), slopes=()):
        self.data = data
        self.parents = tuple(parents)
        self.slopes = tuple(slopes)

    def __add__(self, other):
        return Value(self.data + other.data, [self, other], [1.0, 1.0])

    def __mul__(self, other):
        d = other.data
        return Value(self.data * d, [self, other], [d, d])
