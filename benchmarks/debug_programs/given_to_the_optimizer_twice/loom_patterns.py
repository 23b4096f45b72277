"""Weaving patterns of 16 threads, squeezed into 5 numbers and restored with the same table."""

import numpy as np

from minigrad import Tensor

THREADS, CODES = 16, 5
rng = np.random.default_rng(23)
basis = np.linalg.qr(rng.normal(size=(THREADS, CODES)))[0].T


def patterns(n):
    return rng.normal(0, 1.0, (n, CODES)) * np.array([2.0, 1.6, 1.3, 1.0, 0.8]) @ basis + 0.5


table = Tensor(rng.normal(0, 0.2, (THREADS, CODES)), requires_grad=True, name="table")
bias = Tensor(np.zeros(CODES), requires_grad=True, name="bias")
shift = Tensor(np.zeros(THREADS), requires_grad=True, name="shift")

encoder = [table, bias]
decoder = [table, shift]
parameters = [*encoder, *decoder]


def restore(x):
    code = x @ table + bias
    return code @ table.T + shift


class Descent:
    def __init__(self, parameters, rate, momentum):
        self.parameters = parameters
        self.rate, self.momentum = rate, momentum
        self.speed = [np.zeros(p.shape) for p in parameters]

    def step(self):
        for p, v in zip(self.parameters, self.speed):
            v *= self.momentum
            v -= self.rate * p.grad.numpy()
            p.data += v
        for p in self.parameters:
            p.zero_grad()


descent = Descent(parameters, rate=0.07, momentum=0.5)
for step in range(300):
    x = patterns(64)
    loss = ((restore(x) - x) ** 2).sum(axis=1).mean()
    loss.backward()
    descent.step()
    if step % 50 == 0:
        print(f"step {step:3d}   loss {loss.item():.4f}")

x = patterns(200)
print(f"lost: {((restore(x) - x) ** 2).sum() / ((x - x.mean(axis=0)) ** 2).sum():.4f}")
