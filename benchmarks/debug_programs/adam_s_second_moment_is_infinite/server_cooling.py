"""Cooling of a server room from the load of the racks. The optimizer keeps its state small, as it must on the controller."""
import numpy as np
import minigrad as mg

RACKS, HIDDEN = 12, 24
rng = np.random.default_rng(71)


class SmallAdam:
    """Adam, whose two means are kept in half of the bytes."""

    def __init__(self, P, lr, betas=(0.9, 0.99), kept=np.float16):
        self.lr, self.betas, self.kept, self.t = lr, betas, kept, 0
        self.m = {k: np.zeros(p.shape, kept) for k, p in P.items()}
        self.v = {k: np.zeros(p.shape, kept) for k, p in P.items()}

    def step(self, P, gradient):
        self.t += 1
        b1, b2 = self.betas
        for k, g in gradient.items():
            g = g.astype(self.kept)
            self.m[k] = b1 * self.m[k] + (1 - b1) * g
            self.v[k] = b2 * self.v[k] + (1 - b2) * np.square(g)
            m = self.m[k].astype(np.float32) / (1 - b1**self.t)
            v = self.v[k].astype(np.float32) / (1 - b2**self.t)
            P[k] = P[k] - self.lr * m / (np.sqrt(v) + 1e-4)


def room(n):
    load = rng.beta(2, 2, (n, RACKS))
    outside = rng.normal(15, 8, n)
    heat = load @ np.linspace(0.5, 1.5, RACKS)
    cooling = heat * (1 + 0.02 * np.clip(outside - 12, 0, None)) + 0.5 * load.max(axis=1) + rng.normal(0, 0.1, n)
    return np.column_stack([load, outside]).astype(np.float32), cooling.astype(np.float32)


x_train, y_train = room(4000)
x_test, y_test = room(1000)
mean, std, middle, spread = x_train.mean(axis=0), x_train.std(axis=0), y_train.mean(), y_train.std()
x_train, x_test, y_train, y_test = (x_train - mean) / std, (x_test - mean) / std, (y_train - middle) / spread, (y_test - middle) / spread

P = {
    "W": rng.normal(size=(RACKS + 1, HIDDEN), scale=(RACKS + 1) ** -0.5).astype(np.float32),
    "b": np.zeros(HIDDEN, np.float32),
    "out": rng.normal(size=(HIDDEN, 1), scale=HIDDEN**-0.5).astype(np.float32),
    "c": np.zeros(1, np.float32),
}


def predict(P, x):
    return (np.tanh(x @ P["W"] + P["b"]) @ P["out"] + P["c"])[:, 0]


def loss(P, x, y):
    return np.sum((predict(P, x) - y) ** 2)


gradient = mg.value_and_grad(loss)
optimizer = SmallAdam(P, lr=0.01)
for step in range(240):
    value, g = gradient(P, x_train, y_train)
    optimizer.step(P, g)
    if step % 40 == 39:
        print(step + 1, round(float(value) / len(x_train), 4))
print("test", round(float(loss(P, x_test, y_test)) / len(x_test), 4))
