# %% How high does a loaf rise? Notes of a home baker, 960 loaves.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(14)
n = 960
water = rng.uniform(0.60, 0.85, n)          # per weight of flour
salt = rng.uniform(0.015, 0.025, n)
hours = rng.uniform(3, 9, n)
warmth = rng.uniform(19, 29, n)
rye = rng.uniform(0, 0.5, n)
ripeness = hours * 2 ** ((warmth - 24) / 6)
height = 11 - 0.35 * (ripeness - 6) ** 2 / (1 + ripeness / 6) - 7 * rye + 9 * (water - 0.72) - 60 * (salt - 0.02)
height += rng.normal(0, 0.3, n)

# %% scale
x = np.stack([water, salt, hours, warmth, rye], axis=1)
x = ((x - x[:768].mean(axis=0)) / x[:768].std(axis=0)).astype(np.float32)
y = ((height - height[:768].mean()) / height[:768].std()).astype(np.float32)

# %% network
sizes = [5, 32, 1]
W = [mg.Tensor((rng.normal(size=s) * s[0] ** -0.5).astype(np.float32), requires_grad=True) for s in zip(sizes, sizes[1:])]
b = [mg.Tensor(np.zeros(s, np.float32), requires_grad=True) for s in sizes[1:]]


def rise(x):
    for weight, bias in zip(W[:-1], b[:-1]):
        x = np.tanh(x @ weight + bias)
    return (x @ W[-1] + b[-1])[:, 0]


# %% train: eight loaves at a time, an update for every eight of these
GROUP, PARTS, LR, MOMENTUM = 8, 8, 0.03, 0.9
speed = [np.zeros_like(p.data) for p in W + b]
for epoch in range(20):
    order = rng.permutation(768).reshape(-1, PARTS, GROUP)
    for parts in order:
        for rows in parts:
            loss = ((rise(x[rows]) - y[rows]) ** 2).mean()
            loss.backward()
        for p, v in zip(W + b, speed):
            v *= MOMENTUM
            v += p.grad.numpy()
            p.data -= LR * v
            p.zero_grad()
    if epoch % 5 == 4:
        print(epoch + 1, f"{loss.item():.3f}")

# %% new loaves
with mg.no_grad():
    error = rise(x[768:]).numpy() - y[768:]
print(f"explained {1 - np.mean(error**2) / np.var(y[768:]):.3f} of the variance of new loaves")
