"""Blast or earthquake? A tiny network on the readings of one seismometer, in float32."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(72)


def readings(count):
    blast = rng.integers(0, 2, count)
    first = rng.gamma(2.0, 1.0 + 1.5 * blast)
    long = rng.gamma(2.0, 2.5 - 1.5 * blast)
    ratio = first / (first + long)
    return np.stack([first, long, ratio], axis=1).astype(np.float32), blast.astype(np.float32)


def logistic(z):
    e = np.exp(-z)
    return 1 / (1 + e)


def chance(p, x):
    h = mg.relu(x @ p["W"] + p["b"])
    return logistic(h @ p["u"] + p["c"])


def loss(p, x, y):
    q = chance(p, x)
    tiny = np.float32(1e-6)
    return -np.mean(y * np.log(q + tiny) + (1 - y) * np.log(1 - q + tiny))


def main():
    p = {
        "W": rng.normal(0, 0.6, (3, 16)).astype(np.float32),
        "b": np.zeros(16, np.float32),
        "u": rng.normal(0, 0.25, 16).astype(np.float32),
        "c": np.float32(0.0),
    }
    x, y = readings(3000)
    x[:, :2] *= np.where(rng.random(3000) < 0.004, 150, 1)[:, None]  # a few stations very near to the source
    slope = mg.value_and_grad(loss)
    for step in range(600):
        rows = rng.integers(0, 3000, 30)
        value, g = slope(p, x[rows], y[rows])
        p = {name: (p[name] - 0.05 * g[name]).astype(np.float32) for name in p}
        if step % 100 == 99:
            print(f"{step + 1}: {float(value):.3f}")
    new, kind = readings(1000)
    print(f"right: {np.mean((chance(p, new) > 0.5) == (kind > 0.5)):.3f}")


if __name__ == "__main__":
    main()
