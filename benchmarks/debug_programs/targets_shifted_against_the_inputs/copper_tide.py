import numpy as np
import minigrad as mg

# Level of a copper mine's sump, hour by hour, from rain, pumps and pressure.
rng = np.random.default_rng(88)
HOURS = 1500
rain, pump, pressure = rng.gamma(1.0, 1.0, HOURS), rng.integers(0, 2, HOURS), rng.normal(size=HOURS)


def lagged(a, lags):
    return np.stack([a[lags - 1 - k : len(a) - k] for k in range(lags)], axis=1)


features = np.concatenate([lagged(rain, 3), lagged(pump, 3), lagged(pressure, 3)], axis=1)
level = 0.8 * rain * (1 - 0.7 * pump) + 0.4 * np.roll(rain, 1) - 0.3 * np.tanh(pressure) + 0.05 * rng.normal(size=HOURS)
level = level[: len(features)]
features = (features - features[:1200].mean(axis=0)) / features[:1200].std(axis=0)
centre = level[:1200].mean()


def model(p, x):
    (w, b), (v, c) = p
    return np.tanh(x @ w + b) @ v + c


def loss(p, x, y):
    return ((model(p, x) - y) ** 2).mean()


p = [(rng.normal(0, 0.3, (9, 24)), np.zeros(24)), (rng.normal(0, 0.2, 24), centre)]
speed = mg.tree_map(np.zeros_like, p)
slope = mg.value_and_grad(loss)
for step in range(1500):
    rows = rng.integers(0, 1200, 64)
    value, g = slope(p, features[rows], level[rows])
    speed = mg.tree_map(lambda s, d: 0.9 * s + d, speed, g)
    p = mg.tree_map(lambda a, s: a - 0.01 * s, p, speed)
    if step % 300 == 299:
        late = loss(p, features[1200:], level[1200:]) / level[1200:].var()
        print(f"{step + 1}: loss {value:.3f}, unexplained in the last days {late:.3f}")
