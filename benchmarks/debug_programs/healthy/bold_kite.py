# %% the pull of a kite at every wind and angle: a table of 300 rows, and all of them in each step
import numpy as np
import minigrad as mg

rng = np.random.default_rng(81)
wind = rng.uniform(0, 2, 300)
angle = rng.uniform(-1, 1, 300)
pull = wind**2 * np.cos(1.5 * angle) / 2
x = np.stack([wind - 1, angle], axis=1)

# %% more units than the table needs
wide = 200
P = [rng.normal(0, 1, (2, wide)), rng.uniform(-2.5, 0.5, wide), rng.normal(0, 0.05, wide), np.array(0.0)]


def guess(P, x):
    return mg.relu(x @ P[0] + P[1]) @ P[2] + P[3]


def loss(P, x, pull):
    return np.mean((guess(P, x) - pull) ** 2)


# %% large steps
both = mg.value_and_grad(loss)
for step in range(2500):
    value, slopes = both(P, x[:240], pull[:240])
    P = [p - 0.15 * s for p, s in zip(P, slopes)]
    if step % 500 == 0:
        print(step, round(float(value), 5))

# %% results
idle = np.mean((x @ P[0] + P[1] <= 0).all(axis=0))
print(f"units that are never in use: {idle:.0%}")
print(f"rows put aside: {loss(P, x[240:], pull[240:]):.5f}, variance {pull.var():.3f}")
