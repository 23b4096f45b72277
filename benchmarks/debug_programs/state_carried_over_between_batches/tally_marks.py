"""A recurrent network adds up the numbers of short, independent lists."""

import numpy as np

import minigrad as mg
from minigrad import Tensor

HIDDEN, BATCH, LONGEST = 16, 20, 9
rng = np.random.default_rng(5)


def parameter(*shape, scale):
    return Tensor(rng.normal(0, scale, shape), requires_grad=True)


class Adder:
    def __init__(self):
        self.wx = parameter(1, HIDDEN, scale=0.5)
        self.wh = parameter(HIDDEN, HIDDEN, scale=0.9 / np.sqrt(HIDDEN))
        self.b = Tensor(np.zeros(HIDDEN), requires_grad=True)
        self.out = parameter(HIDDEN, 1, scale=0.2)
        self.weights = [self.wx, self.wh, self.b, self.out]

    def run(self, lists, h):
        for t in range(lists.shape[1]):
            h = np.tanh(lists[:, t : t + 1] @ self.wx + h @ self.wh + self.b)
        return h @ self.out, h


def lists(count, steps):
    x = rng.uniform(-0.5, 0.5, (count, steps))
    return x, x.sum(axis=1, keepdims=True)


net = Adder()
square = mg.tree_map(np.zeros_like, [w.numpy() for w in net.weights])
h = np.zeros((BATCH, HIDDEN))
for step in range(1000):
    rate = 0.005 * (1 - step / 1000)
    x, total = lists(BATCH, rng.integers(2, LONGEST + 1))
    guess, h = net.run(x, h)
    h = h.detach()
    loss = ((guess - total) ** 2).mean()
    loss.backward()
    for w, s in zip(net.weights, square):
        g = w.grad.numpy()
        s *= 0.99
        s += 0.01 * g * g
        w.data -= rate * g / (np.sqrt(s) + 1e-6)
        w.zero_grad()
    if step % 100 == 0:
        print(step, round(loss.item(), 4))

x, total = lists(400, 5)
guess, _ = net.run(x, np.zeros((400, HIDDEN)))
print("error on new lists:", round(float(np.mean((guess.numpy() - total) ** 2)), 4), "of", round(float(total.var()), 4))
