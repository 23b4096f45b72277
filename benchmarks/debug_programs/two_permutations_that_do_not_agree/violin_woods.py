"""Spruce, maple or ebony? Told from the spectrum of a tap on the wood."""
import numpy as np
import minigrad as mg


class Layer:
    def __init__(self, rng, m, n):
        self.w = mg.Tensor(rng.standard_normal((m, n)) / np.sqrt(m), requires_grad=True)
        self.b = mg.Tensor(np.zeros(n), requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b

    def update(self, rate):
        for p in (self.w, self.b):
            p.data -= rate * p.grad.numpy()
            p.zero_grad()


def taps(rng, count):
    wood = rng.integers(0, 3, count)
    tone = np.linspace(0, 1, 10)
    peak = np.array([0.2, 0.45, 0.8])[wood] + 0.05 * rng.standard_normal(count)
    return np.exp(-((tone - peak[:, None]) ** 2) / 0.02) + 0.1 * rng.standard_normal((count, 10)), wood


def shuffled(rng, *arrays):
    return [a[rng.permutation(len(a))] for a in arrays]


rng = np.random.default_rng(36)
spectrum, wood = taps(rng, 450)
first, second = Layer(rng, 10, 16), Layer(rng, 16, 3)
for epoch in range(20):
    x, y = shuffled(rng, spectrum, wood)
    for at in range(0, 450, 30):
        p = mg.softmax(second(np.tanh(first(x[at : at + 30]))), axis=-1)
        loss = -np.log(p[np.arange(30), y[at : at + 30]]).mean()
        loss.backward()
        first.update(0.3)
        second.update(0.3)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.3f}")
x, y = taps(rng, 300)
with mg.no_grad():
    print("right:", np.mean(second(np.tanh(first(x))).numpy().argmax(axis=1) == y).round(3))
