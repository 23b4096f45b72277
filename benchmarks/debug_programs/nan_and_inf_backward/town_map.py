"""Draw a map of twelve towns from their distances alone."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(1)
towns = rng.uniform(0, 10, (12, 2))


def distances(place):
    difference = place[:, None, :] - place[None, :, :]
    return np.sqrt((difference**2).sum(axis=-1))


measured = distances(towns)
drawn = Tensor(rng.normal(0, 3.0, (12, 2)), requires_grad=True, name="map")

best = np.inf
for step in range(600):
    stress = ((distances(drawn) - measured) ** 2).mean()
    stress.backward()
    drawn.data -= 0.5 * drawn.grad
    drawn.zero_grad()
    best = min(best, stress.item())
    if step % 100 == 0:
        print(f"step {step:3d}  stress {stress.item():.5f}")

print("smallest stress", round(best, 5))
print("distance of the first two towns on the map:", distances(drawn.numpy())[0, 1].round(2), "km")
print("measured:", measured[0, 1].round(2), "km")
