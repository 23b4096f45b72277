"""How hot did a pot get? From its own place in the kiln, and from the cones that stood beside the other pots."""

import numpy as np

import minigrad as mg

POTS = 24


def firings(count, rng):
    """For each firing: the places of the pots, and the heat that each pot's cone showed afterwards."""
    place = rng.uniform(-1, 1, size=(count, POTS, 3))
    peak = rng.normal(0, 1.0, size=(count, 1))
    lean = rng.normal(0, 0.6, size=(count, 1, 3))               # where the flame went in this firing
    heat = peak + (place * lean).sum(axis=-1) - 0.5 * place[:, :, 2] ** 2 + rng.normal(0, 0.1, size=(count, POTS))
    return place, heat


def beside(place, heat):
    """For each pot what the cones of the *other* pots say: the mean of the others, and their mean by nearness."""
    gap = ((place[:, :, None] - place[:, None]) ** 2).sum(axis=-1)
    near = np.exp(-2 * gap) * (1 - np.eye(POTS))                # a pot's own cone has the weight 0
    others = (heat.sum(axis=1, keepdims=True) - heat) / (POTS - 1)
    nearby = (near @ heat[:, :, None])[:, :, 0] / near.sum(axis=-1)
    return np.concatenate([place, others[..., None], nearby[..., None]], axis=-1)


def predict(P, x):
    h = mg.gelu(x @ P["w1"] + P["b1"])
    return (h @ P["w2"] + P["b2"])[..., 0]


def loss(P, x, heat):
    return np.mean((predict(P, x) - heat) ** 2)


def main():
    rng = np.random.default_rng(18)
    place, heat = firings(260, rng)
    x = beside(place, heat)
    P = {
        "w1": rng.normal(size=(5, 32)) * 5**-0.5, "b1": np.zeros(32),
        "w2": rng.normal(size=(32, 1)) * 32**-0.5, "b2": np.zeros(1),
    }
    gradient = mg.value_and_grad(loss)
    speed = mg.tree_map(np.zeros_like, P)
    for epoch in range(25):
        for rows in rng.permutation(200).reshape(-1, 20):
            value, g = gradient(P, x[rows], heat[rows])
            speed = mg.tree_map(lambda v, d: 0.9 * v + d, speed, g)
            P = mg.tree_map(lambda p, v: p - 0.02 * v, P, speed)
        if epoch % 6 == 0:
            print(epoch + 1, f"{value:.4f}")
    mean_only = np.mean((x[200:, :, 3] - heat[200:]) ** 2)
    print(f"other firings: {loss(P, x[200:], heat[200:]):.4f}; the mean of the other pots alone: {mean_only:.4f}")


if __name__ == "__main__":
    main()
