"""Tastes of people and traits of films, learned in turn from a table with gaps."""

import numpy as np

import minigrad as mg

PEOPLE, FILMS, TRAITS = 40, 30, 3
rng = np.random.default_rng(65)
ratings = rng.normal(size=(PEOPLE, TRAITS)) @ rng.normal(size=(TRAITS, FILMS)) + rng.normal(0, 0.05, (PEOPLE, FILMS))
known = rng.random((PEOPLE, FILMS)) < 0.6

taste = rng.normal(0, 0.3, (PEOPLE, TRAITS))
traits = rng.normal(0, 0.3, (TRAITS, FILMS))


def error(taste, traits):
    gap = np.where(known, taste @ traits - ratings, 0.0)
    return (gap**2).sum() / known.sum()


def penalized(taste, traits):
    return error(taste, traits) + 2e-4 * ((taste**2).sum() + (traits**2).sum()) / TRAITS


for_taste = mg.value_and_grad(penalized, 0)
for_traits = mg.value_and_grad(penalized, 1)
for turn in range(60):
    for _ in range(10):
        value, g = for_taste(taste, traits)
        taste = taste - 4.0 * g
    for _ in range(10):
        value, g = for_traits(taste, traits)
        traits = traits - 4.0 * g
    if turn % 10 == 0:
        print(f"turn {turn:2d}: {float(value):.4f}")

hidden = (taste @ traits - ratings)[~known]
print("error where nobody rated:", round(float((hidden**2).mean()), 4), "of", round(float(ratings[~known].var()), 3))
