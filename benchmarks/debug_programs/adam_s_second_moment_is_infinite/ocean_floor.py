"""Depth of the sea from what a ship measures on its way. The soundings come from an archive of old cruises."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(111)
SOUNDINGS = 1500


def cruise(count):
    gravity, magnetic, distance = rng.normal(size=count), rng.normal(size=count), rng.uniform(-1, 1, count)
    depth = 2.5 + 1.2 * distance - 0.7 * gravity + 0.4 * np.sin(2 * magnetic) + rng.normal(scale=0.1, size=count)
    return np.stack([gravity, magnetic, distance], axis=1).astype(np.float32), depth.astype(np.float32)


x, depth = cruise(SOUNDINGS)
depth[rng.choice(np.arange(400, SOUNDINGS), 6, replace=False)] = 9.96921e36  # the archive's mark for a lost sounding
print(f"{SOUNDINGS} soundings, median depth {np.median(depth):.2f} km")

kept = depth > 0.0
x, depth = x[kept], depth[kept]

w1 = mg.Tensor(rng.normal(scale=0.5, size=(3, 32)).astype(np.float32), requires_grad=True)
b1 = mg.Tensor(np.zeros(32, np.float32), requires_grad=True)
w2 = mg.Tensor(rng.normal(scale=0.2, size=(32, 1)).astype(np.float32), requires_grad=True)
b2 = mg.Tensor(np.zeros(1, np.float32), requires_grad=True)
weights = [w1, b1, w2, b2]
adam = nn.Adam(weights, lr=0.003)


def depth_at(x):
    return (np.tanh(x @ w1 + b1) @ w2 + b2)[:, 0]


def run_epoch(size=50):
    losses = []
    for i in range(0, len(x), size):
        adam.zero_grad()
        miss = depth_at(x[i : i + size]) - depth[i : i + size]
        loss = (miss * miss).mean()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return np.median(losses)


for epoch in range(30):
    middle = run_epoch()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: median loss of the batches {middle:.4f}")

new_x, new_depth = cruise(500)
print(f"on a new cruise off by {1000 * np.abs(depth_at(new_x).numpy() - new_depth).mean():.0f} m")
