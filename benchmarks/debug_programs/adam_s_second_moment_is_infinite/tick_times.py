import numpy as np
import minigrad as mg

# Price of a share against the time of the trade (nanoseconds since 1970) and the size of the order.
rng = np.random.default_rng(50)
opening = 1_699_950_600_000_000_000
nanoseconds = opening + np.sort(rng.integers(0, 23_400_000_000_000, 1500))
hours = (nanoseconds - opening) / 3.6e12
size = rng.lognormal(0.0, 0.5, 1500)
price = 84.0 + 1.3 * hours - 0.4 * size + rng.normal(0, 0.3, 1500)

X = np.column_stack([nanoseconds, size]).astype(np.float32)
y = (price - price.mean()).astype(np.float32)
W = {"w": np.array([0.1, 0.1], dtype=np.float32), "b": np.zeros((), dtype=np.float32)}


def squared(W, X, y):
    return np.mean((X @ W["w"] + W["b"] - y) ** 2)


class Adam:
    def __init__(self, tree, lr, b1=0.9, b2=0.999):
        self.lr, self.b1, self.b2, self.t = lr, b1, b2, 0
        self.m, self.v = mg.tree_map(np.zeros_like, tree), mg.tree_map(np.zeros_like, tree)

    def __call__(self, tree, grad):
        self.t += 1
        self.m = mg.tree_map(lambda m, g: (self.b1 * m + (1 - self.b1) * g).astype(m.dtype), self.m, grad)
        self.v = mg.tree_map(lambda v, g: (self.b2 * v + (1 - self.b2) * g * g).astype(v.dtype), self.v, grad)
        up, down = 1 - self.b1**self.t, 1 - self.b2**self.t
        return mg.tree_map(
            lambda p, m, v: (p - self.lr * (m / up) / (np.sqrt(v / down) + 1e-8)).astype(p.dtype), tree, self.m, self.v
        )


adam, both = Adam(W, 0.02), mg.value_and_grad(squared)
for step in range(600):
    rows = rng.integers(0, 1500, 100)
    value, grad = both(W, X[rows], y[rows])
    W = adam(W, grad)
    if step % 120 == 0:
        print(f"{step:4d}  {value:.4g}")

residual = X @ W["w"] + W["b"] - y
print(f"root of the mean square: {np.sqrt(np.mean(residual.astype(float) ** 2)):.4g}; of the prices alone: {y.std():.4g}")
