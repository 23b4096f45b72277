"""Tuning a glass harp: water level, rim and thickness of a glass -> its tone."""
import numpy as np
import minigrad as mg


class Layer:
    def __init__(self, rows, columns, rng):
        self.w = mg.Tensor(rng.normal(0, rows**-0.5, (rows, columns)), requires_grad=True)
        self.b = mg.Tensor(np.zeros(columns), requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b

    def weights(self):
        return [self.w, self.b]


class Descent:
    """Gradient descent with momentum."""

    def __init__(self, weights, rate, momentum=0.9):
        self.weights, self.rate, self.momentum = weights, rate, momentum
        self.speed = {id(w): np.zeros(w.shape) for w in weights}

    def step(self):
        for w in self.weights:
            v = self.speed[id(w)]
            v *= self.momentum
            v -= self.rate * w.grad.data
            w.data = w.data + v

    def clear(self):
        for w in self.weights:
            w.zero_grad()


def glasses(count, rng):
    x = rng.uniform(-1, 1, (count, 3))
    tone = np.sin(2 * x[:, 0]) - 0.6 * x[:, 1] ** 2 + 0.8 * x[:, 2] * x[:, 0]
    return x, tone[:, None]


rng = np.random.default_rng(3)
x, tone = glasses(256, rng)
rim, bowl, stem = Layer(3, 24, rng), Layer(24, 24, rng), Layer(24, 1, rng)
body = rim.weights() + bowl.weights() + stem.weights()
head = stem.weights()
optimizer = Descent(body + head, rate=0.09)
for turn in range(500):
    out = stem(np.tanh(bowl(np.tanh(rim(x)))))
    loss = np.mean((out - tone) ** 2)
    optimizer.clear()
    loss.backward()
    optimizer.step()
    if turn % 100 == 0:
        print(turn, f"{loss.item():.5f}")
fresh, heard = glasses(200, rng)
print(f"last loss {loss.item():.5f}, on new glasses "
      f"{np.mean((stem(np.tanh(bowl(np.tanh(rim(fresh))))) - heard).numpy() ** 2):.5f}")
