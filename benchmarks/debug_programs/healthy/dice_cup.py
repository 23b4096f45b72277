"""Guess the loaded die from ten throws: the dice are alike, and no one can be right every time."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(103)
DICE, THROWS = 4, 10
chances = rng.dirichlet(np.full(6, 6.0), DICE)


def throw(count):
    die = rng.integers(0, DICE, count)
    faces = np.stack([rng.multinomial(THROWS, chances[d]) for d in die]).astype(float)
    return faces, die


def bayes(faces):
    return mg.log_softmax(faces @ np.log(chances).T, axis=-1)


params = {"W": np.zeros((6, DICE)), "b": np.zeros(DICE)}


def loss(p, faces, die):
    scores = mg.log_softmax(faces @ p["W"] + p["b"], axis=1)
    return -np.mean(scores[np.arange(len(die)), die])


both = mg.value_and_grad(loss)
smooth = None
for step in range(600):
    faces, die = throw(64)
    value, g = both(params, faces, die)
    rate = 0.08 / (1 + step / 100)
    params = {name: params[name] - rate * g[name] for name in params}
    smooth = value if smooth is None else 0.98 * smooth + 0.02 * value
    if step % 100 == 0:
        print(f"{step:4d}  {smooth:.3f}")

faces, die = throw(3000)
ideal = bayes(faces)
scores = faces @ params["W"] + params["b"]
print("loss", loss(params, faces, die).round(3), "of the best rule", -ideal[np.arange(3000), die].mean().round(3))
right, possible = np.mean(scores.argmax(axis=1) == die), np.mean(ideal.argmax(axis=1) == die)
print("right", right.round(3), "best rule", possible.round(3))
