"""Forecast the water level of a small harbour, hour by hour, with a network on the last half day."""

import minigrad as mg
import numpy as np

WIDTH = 12
HOURS = 1500


def gauge(rng):
    t = np.arange(HOURS)
    moon = 1.6 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 25.82 + 1.0)
    surge = np.zeros(HOURS)
    for i in range(1, HOURS):
        surge[i] = 0.9 * surge[i - 1] + rng.normal(0, 0.06)
    return moon + surge


def network(p, x):
    h = np.tanh(x @ p["w1"] + p["b1"])
    return h @ p["w2"] + x @ p["skip"] + p["b2"]


def loss(p, x, y):
    return np.mean((network(p, x) - y) ** 2)


def main():
    rng = np.random.default_rng(4)
    level = gauge(rng)
    windows = np.lib.stride_tricks.sliding_window_view(level, WIDTH + 1)
    past, following = windows[:, 1:], windows[:, -1]
    cut = 1200
    p = {
        "w1": rng.normal(0, WIDTH**-0.5, (WIDTH, 16)),
        "b1": np.zeros(16),
        "w2": rng.normal(0, 0.1, 16),
        "skip": np.zeros(WIDTH),
        "b2": 0.0,
    }
    velocity = mg.tree_map(np.zeros_like, p)
    gradient = mg.value_and_grad(loss)
    for step in range(2001):
        rows = rng.integers(cut, size=64)
        value, g = gradient(p, past[rows], following[rows])
        for name, array in p.items():
            velocity[name] = 0.9 * velocity[name] - 0.005 * g[name]
            p[name] = array + velocity[name]
        if step % 500 == 0:
            print(f"step {step:4d}  loss {value:.5f}")
    print(f"held-out error {np.sqrt(loss(p, past[cut:], following[cut:])):.3f} m")

    run = list(level[cut : cut + WIDTH])
    for _ in range(24):
        run.append(float(network(p, np.array(run[-WIDTH:]))))
    miss = np.array(run[WIDTH:]) - level[cut + WIDTH : cut + WIDTH + 24]
    print(f"error of a forecast over 24 hours {np.sqrt(np.mean(miss**2)):.3f} m")


if __name__ == "__main__":
    main()
