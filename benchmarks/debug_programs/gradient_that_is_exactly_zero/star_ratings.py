import numpy as np
import minigrad as mg

# Reviews come with whole stars from 1 to 5. Eight features per review.
rng = np.random.default_rng(21)
features = rng.normal(size=(240, 8))
taste = rng.normal(size=8)
stars = np.clip(np.rint(3 + 0.8 * features @ taste), 1, 5)
train, test = slice(0, 180), slice(180, 240)


def init(sizes, rng):
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers.append({"w": rng.normal(size=(n_in, n_out)) / np.sqrt(n_in), "b": np.zeros(n_out)})
    return layers


def predict(layers, x):
    h = np.tanh(x @ layers[0]["w"] + layers[0]["b"])
    score = 3.0 + (h @ layers[1]["w"] + layers[1]["b"])[:, 0]
    return np.round(score)


def loss(layers, x, y):
    return np.mean((predict(layers, x) - y) ** 2)


layers = init([8, 16, 1], rng)
objective = mg.value_and_grad(loss)
for epoch in range(300):
    value, grads = objective(layers, features[train], stars[train])
    layers = mg.tree_map(lambda p, g: p - 0.1 * g, layers, grads)
    if epoch % 50 == 0:
        print("epoch", epoch, "squared error", round(float(value), 4))

exact = np.mean(np.round(predict(layers, features[test])) == stars[test])
print("test error", round(float(loss(layers, features[test], stars[test])), 3), "exact stars", round(float(exact), 3))
