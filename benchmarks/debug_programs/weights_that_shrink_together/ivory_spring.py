# Tension of piano strings from length, gauge, and pitch: a network of two hidden layers with an L2 penalty.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(19)
length, gauge, pitch = rng.uniform(-1, 1, (3, 900))
tension = 1.2 * length * pitch + np.sin(2 * gauge) + 0.5 * pitch + 0.05 * rng.normal(size=900)
strings = np.stack([length, gauge, pitch], axis=1)


class Harp:
    def __init__(self, sizes):
        self.maps = [mg.Tensor(rng.normal(0, 1.2 / np.sqrt(a), (a, b)), requires_grad=True) for a, b in zip(sizes, sizes[1:])]
        self.shifts = [mg.Tensor(np.zeros(b), requires_grad=True) for b in sizes[1:]]

    def __call__(self, x):
        for w, b in zip(self.maps[:-1], self.shifts):
            x = np.tanh(x @ w + b)
        return (x @ self.maps[-1] + self.shifts[-1])[:, 0]

    def penalty(self, factor):
        return factor * sum((w * w).sum() for w in self.maps)


harp = Harp([3, 24, 24, 1])
for step in range(2000):
    rows = rng.integers(0, 700, 70)
    fit = ((harp(strings[rows]) - tension[rows]) ** 2).mean()
    loss = fit + harp.penalty(0.5)
    loss.backward()
    for p in harp.maps + harp.shifts:
        p.data -= 0.05 * p.grad
        p.zero_grad()
    if step % 400 == 399:
        with mg.no_grad():
            unseen = ((harp(strings[700:]).numpy() - tension[700:]) ** 2).mean()
        print(f"step {step + 1}: fit {fit.item():.3f}, unseen {unseen:.3f}")
