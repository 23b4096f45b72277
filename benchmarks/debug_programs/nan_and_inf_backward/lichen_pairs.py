"""Photographs of lichens: learn a map on which pictures of the same species lie close together."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(11)
SPECIES, PHOTOS, FEATURES = 6, 180, 12
species = rng.integers(0, SPECIES, PHOTOS)
centres = rng.normal(0, 1.0, (SPECIES, FEATURES))
photos = centres[species] + rng.normal(0, 0.9, (PHOTOS, FEATURES))

layers = {
    "w1": rng.normal(0, FEATURES**-0.5, (FEATURES, 24)),
    "b1": np.zeros(24),
    "w2": rng.normal(0, 24**-0.5, (24, 3)),
}


def place(p, x):
    return np.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]


def gap(a, b):
    return np.sqrt(np.sum((a - b) ** 2, axis=1))


def contrast(p, x, z, same):
    d = gap(place(p, x), place(p, z))
    pull = same * d**2
    push = (1 - same) * np.maximum(1.5 - d, 0) ** 2
    return np.mean(pull + push)


def neighbours_agree(p):
    where = place(p, photos)
    distance = np.sum((where[:, None] - where[None]) ** 2, axis=-1)
    np.fill_diagonal(distance, np.inf)
    return np.mean(species[distance.argmin(axis=1)] == species)


step = mg.value_and_grad(contrast)
history = []
for n in range(900):
    i, j = rng.integers(0, PHOTOS, (2, 24))
    same = (species[i] == species[j]).astype(float)
    value, slope = step(layers, photos[i], photos[j], same)
    for name in layers:
        layers[name] = layers[name] - 0.1 * slope[name]
    history.append(float(value))

print(f"loss at the start {np.mean(history[:5]):.3f}, at the end {np.mean(history[-50:]):.3f}")
print(f"nearest neighbour of the same species: {neighbours_agree(layers):.2f}")
