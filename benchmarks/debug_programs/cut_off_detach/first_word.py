"""Say at the end of a sentence which word it began with."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(47)
WORDS, LENGTH, UNITS = 4, 12, 32
one_hot = np.eye(WORDS)


def weight(rows, columns, scale):
    return mg.Tensor(rng.normal(0, scale, (rows, columns)), requires_grad=True)


cell = {"U": weight(WORDS, UNITS, 0.6), "W": weight(UNITS, UNITS, 0.12), "V": weight(UNITS, WORDS, 0.2)}
cell["W"].data[...] = np.linalg.qr(cell["W"].data)[0]


def read(sentences):
    h = mg.Tensor(np.zeros((len(sentences), UNITS)))
    for t in range(LENGTH):
        h = h.detach()
        h = np.tanh(one_hot[sentences[:, t]] @ cell["U"] + 0.9 * h @ cell["W"])
    return h @ cell["V"]


average = {name: 0.0 for name in cell}
for step in range(400):
    sentences = rng.integers(0, WORDS, (64, LENGTH))
    loss = mg.cross_entropy(read(sentences), sentences[:, 0])
    loss.backward()
    for name, w in cell.items():
        g = w.grad.numpy()
        average[name] = 0.95 * average[name] + 0.05 * g * g
        w.data -= 0.002 * g / (np.sqrt(average[name]) + 1e-6)
        w.zero_grad()
    if step % 80 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")

sentences = rng.integers(0, WORDS, (500, LENGTH))
answers = read(sentences).numpy().argmax(axis=1)
print("accuracy", np.mean(answers == sentences[:, 0]), "by guessing", 1 / WORDS)
