import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
n = 120
chain = rng.uniform(-1, 1, (n, 3))
target = 2 * chain[:, 0] - chain[:, 1] ** 2 + 0.5 * chain[:, 2]


def init(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers.append((rng.normal(0, 1 / np.sqrt(a), (a, b)), np.zeros(b)))
    return layers


def predict(layers, x):
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    W, b = layers[-1]
    return x @ W + b


def mse(layers):
    error = predict(layers, chain) - target
    return np.mean(error**2)


layers = init(3, 20, 1)
value_and_grad = mg.value_and_grad(mse)
for epoch in range(600):
    value, grads = value_and_grad(layers)
    layers = [(W - 0.1 * dW, b - 0.1 * db) for (W, b), (dW, db) in zip(layers, grads)]
fitted = np.ravel(predict(layers, chain))
print("loss", round(float(value), 4))
print("correlation", round(float(np.corrcoef(fitted, target)[0, 1]), 3), "spread", round(float(fitted.std()), 3))
