"""Draw a map of islands from the distances between them."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(12)
true_places = rng.uniform(0, 10, (14, 2))
gaps = true_places[:, None, :] - true_places[None, :, :]
known = np.hypot(gaps[..., 0], gaps[..., 1])


def distances(places):
    gap = places[:, None, :] - places[None, :, :]
    return np.sqrt((gap**2).sum(axis=-1))


def stress(places):
    return np.mean((distances(places) - known) ** 2)


value_and_slope = mg.value_and_grad(stress)
places = rng.normal(0, 3, (14, 2))
pace = np.zeros_like(places)
for step in range(400):
    value, slope = value_and_slope(places)
    pace = 0.8 * pace - 0.5 * slope
    places = places + pace
    if step % 80 == 0:
        print(f"step {step:3d}   stress {value:.5f}")

final = stress(places)
print("final stress", round(float(final), 5))
print("the first three islands:", places[:3].round(2).tolist())
