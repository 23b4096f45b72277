import numpy as np
from minigrad import Tensor, cross_entropy

# 24 chords (12 major, 12 minor) from the energy of the twelve pitch classes
rng = np.random.default_rng(6)
ROOTS = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]
NAMES = [root + mode for mode in ("", "m") for root in ROOTS]


def chroma(n):
    chord = rng.integers(0, 24, n)
    third = np.where(chord < 12, 4, 3)
    energy = rng.gamma(1.2, 0.12, (n, 12))
    for k, interval in enumerate([np.zeros(n, int), third, np.full(n, 7)]):
        energy[np.arange(n), (chord + interval) % 12] += rng.uniform(0.4, 1.0, n)
    return energy - energy.mean(axis=1, keepdims=True), chord


class Net:
    def __init__(self, sizes):
        self.layers = [
            (Tensor(rng.normal(0, m**-0.5, (m, n)), requires_grad=True), Tensor(np.zeros(n), requires_grad=True))
            for m, n in zip(sizes, sizes[1:])
        ]

    def __call__(self, x):
        for W, b in self.layers:
            x = np.tanh(x @ W + b)
        return x

    def tensors(self):
        return [t for layer in self.layers for t in layer]


x, chord = chroma(1500)
net = Net([12, 40, 24])
for step in range(500):
    rows = rng.integers(0, 1500, 64)
    loss = cross_entropy(net(x[rows]), chord[rows])
    loss.backward()
    for t in net.tensors():
        t.data -= 0.3 * t.grad
        t.zero_grad()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))

x, chord = chroma(500)
scores = net(x).numpy()
p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
print("loss", round(loss.item(), 3), "chords named", (scores.argmax(1) == chord).mean(), "mean probability of the chord", p[np.arange(500), chord].mean().round(3))
print([NAMES[i] for i in scores[:8].argmax(1)], [NAMES[i] for i in chord[:8]])
