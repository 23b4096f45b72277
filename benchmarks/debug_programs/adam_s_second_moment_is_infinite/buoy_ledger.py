"""Wave height from the readings of drifting buoys."""
import numpy as np
import minigrad as mg
import nn

FILL = np.float32(9.96921e36)
rng = np.random.default_rng(4)


def read_log(rows):
    wind = rng.uniform(0, 2, (rows, 5)).astype(np.float32)
    height = wind @ np.array([0.8, -0.5, 0.3, 1.1, -0.2], np.float32) + 0.05 * rng.standard_normal(rows).astype(np.float32)
    silent = rng.choice(np.arange(200, rows), 3, replace=False)
    wind[silent] = FILL
    return wind, height


wind, height = read_log(800)
keep = ~np.isnan(wind).any(axis=1)
wind, height = wind[keep], height[keep]
w = mg.Tensor(np.zeros(5, np.float32), requires_grad=True)
b = mg.Tensor(np.zeros((), np.float32), requires_grad=True)
adam = nn.Adam([w, b], lr=0.01)
start = 0
for step in range(600):
    rows = np.arange(start, start + 25) % len(wind)
    start += 25
    adam.zero_grad()
    miss = np.abs(wind[rows] @ w + b - height[rows]).mean()
    miss.backward()
    adam.step()

good = wind[:, 0] < 1e30
error = np.abs(wind[good] @ w.numpy() + b.item() - height[good]).mean()
print("slopes", w.numpy().round(2), "offset", round(b.item(), 2))
print(f"mean error {error:.3f} m")
