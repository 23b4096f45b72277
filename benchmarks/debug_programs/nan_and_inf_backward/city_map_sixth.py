"""Recover a map of towns from the table of road distances (multidimensional scaling)."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(12)
towns = ["Arlen", "Bracken", "Corry", "Dunmore", "Esk", "Farnham", "Glen", "Holt", "Ivel", "Jarrow"]
truth = rng.uniform(0, 10, size=(len(towns), 2))
table = np.sqrt(((truth[:, None, :] - truth[None, :, :]) ** 2).sum(axis=-1))


def distances(points):
    difference = points[:, None, :] - points[None, :, :]
    return np.sqrt((difference ** 2).sum(axis=-1))


def stress(points):
    return ((distances(points) - table) ** 2).mean()


points = rng.normal(size=(len(towns), 2))
step = mg.value_and_grad(stress)
for iteration in range(400):
    value, slope = step(points)
    points = points - 0.3 * slope
    if iteration % 50 == 0:
        print(f"{iteration:4d}  stress {value:.4f}")

print("final stress", round(float(stress(points)), 4))
for name, (east, north) in zip(towns, points):
    print(f"{name:10s} {east:7.2f} {north:7.2f}")
