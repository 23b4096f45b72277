"""Two small networks learn to place a picture and its caption at the same spot of a sphere."""

import minigrad as mg
import numpy as np

PICTURE, CAPTION, WIDTH, BATCH, TEMPERATURE = 20, 14, 16, 64, 0.07
rng = np.random.default_rng(77)
see = rng.normal(size=(6, PICTURE))
tell = rng.normal(size=(6, CAPTION))


def pairs(n):
    scene = rng.normal(size=(n, 6))
    return (
        np.tanh(scene @ see) + rng.normal(0, 0.1, (n, PICTURE)),
        np.tanh(scene @ tell) + rng.normal(0, 0.1, (n, CAPTION)),
    )


def tower(p, x):
    z = np.tanh(x @ p["in"]) @ p["out"]
    return z / np.sqrt(np.sum(z * z, axis=1, keepdims=True))


def scores(p, pictures, captions):
    return tower(p["picture"], pictures) @ tower(p["caption"], captions).T * TEMPERATURE


def loss(p, pictures, captions):
    s = scores(p, pictures, captions)
    right = np.arange(len(pictures))
    forth = mg.log_softmax(s, axis=1)[right, right]
    back = mg.log_softmax(s, axis=0)[right, right]
    return -np.mean(forth + back) / 2


def start(features):
    return {
        "in": rng.normal(0, features**-0.5, (features, 40)),
        "out": rng.normal(0, 40**-0.5, (40, WIDTH)),
    }


p = {"picture": start(PICTURE), "caption": start(CAPTION)}
velocity = mg.tree_map(np.zeros_like, p)
step_of = mg.value_and_grad(loss)
for step in range(601):
    value, g = step_of(p, *pairs(BATCH))
    velocity = mg.tree_map(lambda v, d: 0.9 * v - 0.02 * d, velocity, g)
    p = mg.tree_map(np.add, p, velocity)
    if step % 150 == 0:
        print(f"{step:5d}  {float(value):.4f}")

pictures, captions = pairs(200)
found = scores(p, pictures, captions).argmax(axis=1)
print(f"the right caption among 200: {np.mean(found == np.arange(200)):.3f}")
