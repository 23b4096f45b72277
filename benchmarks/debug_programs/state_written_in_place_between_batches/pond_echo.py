"""An echo state network: a fixed pond of 60 cells that ripple, and a trained readout. Which source threw the stone?"""
import numpy as np
import minigrad as mg


class Pond:
    def __init__(self, cells, most, rng):
        ring = rng.normal(size=(cells, cells))
        self.inner = 0.97 * ring / np.abs(np.linalg.eigvals(ring)).max()
        self.entry = rng.normal(0, 0.7, cells)
        self.rest = np.zeros((most, cells))

    def ripple(self, waves):
        state = self.rest[:len(waves)]
        for drop in waves.T:
            state *= 0.95
            state += 0.3 * np.tanh(state @ self.inner + drop[:, None] * self.entry)
        return state


rng = np.random.default_rng(55)
CLASSES, BATCH = 3, 25


def throw(n):
    source = rng.integers(0, CLASSES, n)
    t = np.arange(6)
    phase = rng.uniform(0, 0.6, (n, 1))
    return 0.3 * np.sin(t * (0.5 + 0.7 * source[:, None]) + phase) + 0.06 * rng.normal(size=(n, 6)), source


pond = Pond(60, BATCH, rng)
readout = mg.Tensor(np.zeros((60, CLASSES)), requires_grad=True)
offset = mg.Tensor(np.zeros(CLASSES), requires_grad=True)
losses, hits = [], []
for batch in range(300):
    waves, source = throw(BATCH)
    logits = pond.ripple(waves) @ readout + offset
    loss = mg.cross_entropy(logits, source)
    loss.backward()
    for p in (readout, offset):
        p.data -= 0.3 * p.grad
        p.zero_grad()
    losses.append(loss.item())
    hits.append(np.mean(logits.numpy().argmax(axis=1) == source))
    if batch % 50 == 49:
        print(batch + 1, f"loss {np.mean(losses[-25:]):.3f}", f"right {np.mean(hits[-25:]):.2f}")
