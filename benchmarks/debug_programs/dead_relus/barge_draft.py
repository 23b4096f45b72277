"""How deep does a barge lie? From its load, its length, the water's density and its temperature."""
import numpy as np
import minigrad as mg

LAYERS = (4, 24, 24, 1)


def prepare(raw):
    """Columns of a common size."""
    return raw - raw.mean(axis=0) / raw.std(axis=0)


def new_weights(rng):
    pairs = zip(LAYERS[:-1], LAYERS[1:])
    return [(rng.normal(size=(a, b)) * np.sqrt(2 / a), np.zeros(b)) for a, b in pairs]


def forward(weights, x):
    for W, b in weights[:-1]:
        x = mg.relu(x @ W + b)
    W, b = weights[-1]
    return (x @ W + b)[:, 0]


def loss(weights, x, depth):
    return np.mean(np.abs(forward(weights, x) - depth))


def main():
    rng = np.random.default_rng(2)
    load = rng.uniform(1, 9, 1000)
    length = rng.uniform(4, 11, 1000)
    density = rng.normal(10.1, 0.08, 1000)
    celsius = rng.uniform(2, 24, 1000)
    depth = 3 * load / length + 2 * (10.1 - density) + rng.normal(0, 0.02, 1000)
    x = prepare(np.stack([load, length, density, celsius], axis=1))
    weights = new_weights(rng)
    step = mg.value_and_grad(loss)
    for i in range(1500):
        pick = rng.integers(850, size=40)
        value, gradient = step(weights, x[pick], depth[pick])
        weights = mg.tree_map(lambda w, g: w - 0.05 * g, weights, gradient)
        if i % 300 == 0:
            print(f"{i:5d}  mean miss {value:.3f} m")
    print(f"barges not seen: mean miss {loss(weights, x[850:], depth[850:]):.3f} m")


if __name__ == "__main__":
    main()
