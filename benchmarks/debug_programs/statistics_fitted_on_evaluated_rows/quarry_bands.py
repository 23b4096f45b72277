"""Two quarries cut nearly the same limestone. Can a spectrum of 600 bands tell which one a church's stone came from?"""

import numpy as np

import minigrad as mg

BANDS, KEPT = 600, 20


def spectra(count, rng):
    quarry = rng.integers(2, size=count)
    x = rng.normal(size=(count, BANDS))
    x[:, 100:104] += 0.45 * (2 * quarry - 1)[:, None]           # iron in the beds of the eastern quarry
    return x, quarry


def strongest(x, quarry, kept):
    """The bands that differ most between the quarries."""
    east, west = x[quarry == 1], x[quarry == 0]
    gap = east.mean(axis=0) - west.mean(axis=0)
    return np.argsort(-np.abs(gap))[:kept]


def logits(p, x):
    return (np.tanh(x @ p["w"] + p["b"]) @ p["v"] + p["c"])[:, 0]


def loss(p, x, y):
    z = logits(p, x)
    return np.mean(np.logaddexp(0, z) - y * z) + 1e-3 * np.sum(p["w"] ** 2)


def train(x, y, rng):
    p = {
        "w": rng.normal(size=(x.shape[1], 6)) * x.shape[1] ** -0.5, "b": np.zeros(6),
        "v": rng.normal(size=(6, 1)) * 6**-0.5, "c": np.zeros(1),
    }
    gradient = mg.value_and_grad(loss)
    values = []
    for _ in range(150):
        value, g = gradient(p, x, y)
        p = mg.tree_map(lambda a, d: a - 0.2 * d, p, g)
        values.append(float(value))
    return p, values


def main():
    rng = np.random.default_rng(4)
    x, quarry = spectra(150, rng)
    order = rng.permutation(150)
    learn, judge = order[:90], order[90:]
    bands = strongest(x, quarry, KEPT)
    mean, std = x[learn][:, bands].mean(axis=0), x[learn][:, bands].std(axis=0)
    chosen = (x[:, bands] - mean) / std
    p, values = train(chosen[learn], quarry[learn], rng)
    right = np.mean((logits(p, chosen[judge]) > 0) == quarry[judge])
    print(f"loss {values[0]:.3f} ... {values[-1]:.3f}")
    print(f"right quarry for {right:.2f} of the stones kept for judging")
    church, truth = spectra(1000, np.random.default_rng(99))
    right = np.mean((logits(p, (church[:, bands] - mean) / std) > 0) == truth)
    print(f"stones of known churches, measured a year later: {right:.2f}")


if __name__ == "__main__":
    main()
