"""A network with the scaled tanh of 'Efficient BackProp' guesses the slant of a pen from eight stroke features."""
import numpy as np
import minigrad as mg

A, S = 1.7159, 2.0 / 3.0


def _squash(x, /):
    return A * np.tanh(S * x)


squash = mg.primitive(_squash, name="squash").vjp(
    x=lambda g, ans, x: g * A * S * (1 - ans ** 2),
)


class Perceptron:
    def __init__(self, sizes, seed):
        r = np.random.default_rng(seed)
        self.layers = [
            (
                mg.Tensor(r.normal(0, 2.5 / np.sqrt(a), (a, b)), requires_grad=True),
                mg.Tensor(np.zeros(b), requires_grad=True),
            )
            for a, b in zip(sizes, sizes[1:])
        ]

    def __call__(self, x):
        *inner, (w, b) = self.layers
        for u, c in inner:
            x = squash(x @ u + c)
        return (x @ w + b)[:, 0]

    def descend(self, rate):
        for pair in self.layers:
            for t in pair:
                t.data -= rate * t.grad
                t.zero_grad()


r = np.random.default_rng(70)
strokes = r.normal(size=(250, 8))
slant = np.sin(strokes[:, 0] * 1.5) + strokes[:, 1] * strokes[:, 2] * 0.6

net = Perceptron([8, 20, 20, 1], seed=1)
for sweep in range(600):
    miss = net(strokes) - slant
    cost = (miss * miss).mean()
    cost.backward()
    net.descend(0.02)
    if sweep % 100 == 99:
        print(f"sweep {sweep + 1}: cost {cost.item():.4f}")
