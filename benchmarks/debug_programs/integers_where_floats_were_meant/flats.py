"""The rent of a flat from its size, floor, year and distance to the centre."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(11)
flats = np.stack(
    [
        rng.integers(20, 140, 400),  # square metres
        rng.integers(0, 9, 400),  # floor
        rng.integers(1920, 2020, 400),  # year
        rng.integers(100, 9000, 400),  # metres to the centre
    ],
    axis=1,
)
rent = 300 + 9.0 * flats[:, 0] + 12 * flats[:, 1] + 2.5 * (flats[:, 2] - 1920) - 0.05 * flats[:, 3]
rent = rent + rng.normal(0, 20, 400)

# the same scale for every column
features = np.empty_like(flats)
for column in range(flats.shape[1]):
    values = flats[:, column]
    features[:, column] = (values - values.mean()) / values.std()
target = (rent - rent.mean()) / rent.std()

train, test = slice(0, 300), slice(300, 400)
w = Tensor(np.zeros(4), requires_grad=True, name="w")
b = Tensor(0.0, requires_grad=True, name="b")

for epoch in range(120):
    residual = features[train] @ w + b - target[train]
    loss = (residual**2).mean()
    loss.backward()
    for p in (w, b):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}")

guess = features[test] @ w.numpy() + b.item()
euros = np.abs(guess - target[test]).mean() * rent.std()
print("weights", w.numpy().round(3), f"mean error {euros:.1f} euros")
