"""Parity of three switches: a network of 16 units, plain arrays, gradient descent."""

import numpy as np

import minigrad as mg

switches = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
odd = ((switches > 0).sum(axis=1) % 2).astype(np.float64)

UNITS = 16
network = {
    "W": np.full((3, UNITS), 0.5),
    "b": np.full(UNITS, 0.1),
    "v": np.full(UNITS, 0.2),
    "c": np.array(0.0),
}


def logit(network, x):
    hidden = np.tanh(x @ network["W"] + network["b"])
    return hidden @ network["v"] + network["c"]


def loss(network):
    z = logit(network, switches)
    return np.mean(np.logaddexp(0.0, z) - odd * z)


descend = mg.value_and_grad(loss)
for step in range(4000):
    value, slope = descend(network)
    network = mg.tree_map(lambda w, g: w - 0.3 * g, network, slope)
    if step % 500 == 0:
        print(f"{step:5d} {value:.4f}")

answers = logit(network, switches) > 0
for row, answer, truth in zip(switches, answers, odd, strict=True):
    print((row > 0).astype(int), "->", int(answer), "expected", int(truth))
print("right:", np.mean(answers == (odd == 1)))
