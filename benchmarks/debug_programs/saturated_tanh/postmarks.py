import numpy as np
import minigrad as mg

# Read the district from a 10 x 10 postmark: six noisy patterns.
rng = np.random.default_rng(33)
stamps = rng.choice([-1.0, 1.0], (6, 100))


def letters(n):
    label = rng.integers(0, 6, n)
    ink = 0.45 * stamps[label] + rng.normal(size=(n, 100))
    return ink, label


def start(a, b):
    return rng.normal(size=(a, b)), np.zeros(b)


def logits(layers, x):
    *hidden, (W, b) = layers
    for V, c in hidden:
        x = np.tanh(x @ V + c)
    return x @ W + b


def nll(layers, x, label):
    return -mg.log_softmax(logits(layers, x))[np.arange(len(x)), label].mean()


x, label = letters(240)
xt, lt = letters(300)
layers = [start(100, 40), start(40, 40), (0.1 * rng.normal(size=(40, 6)), np.zeros(6))]
both = mg.value_and_grad(nll)
for epoch in range(40):
    for rows in np.split(rng.permutation(240), 6):
        value, slope = both(layers, x[rows], label[rows])
        layers = mg.tree_map(lambda p, g: p - 0.1 * g, layers, slope)
    if epoch % 10 == 0:
        print(epoch, "loss", round(float(value), 4))
print("read correctly", np.mean(logits(layers, xt).argmax(axis=1) == lt).round(3))
