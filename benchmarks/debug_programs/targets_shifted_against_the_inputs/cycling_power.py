"""Power of a cyclist in each second, from cadence, slope, speed and heart rate; a recurrent network written by hand."""
import numpy as np
import minigrad as mg

HIDDEN, SECONDS, MEAN_OF = 16, 30, 5
rng = np.random.default_rng(12)


def ride(seconds):
    slope = np.convolve(rng.normal(0, 3, seconds + 2), np.ones(3) / 3, mode="valid")
    surge = rng.normal(0, 1, seconds)
    cadence = 85 + 8 * surge - 1.5 * slope
    speed = 30 - 2.5 * slope + 1.5 * surge
    power = 180 + 28 * slope + 40 * surge + rng.normal(0, 6, seconds)
    heart = np.empty(seconds)
    heart[0] = 140.0
    for t in range(1, seconds):
        heart[t] = heart[t - 1] + 0.05 * (90 + 0.3 * power[t] - heart[t - 1])
    return np.column_stack([cadence, slope, speed, heart + rng.normal(0, 1, seconds)]), power


def smoothed(values):
    """The mean of the last MEAN_OF seconds, as bike computers show it."""
    return np.convolve(values, np.ones(MEAN_OF) / MEAN_OF, mode="valid")


def pieces(sensors, power):
    """The ride in pieces of SECONDS seconds: (pieces, SECONDS, 4) and (pieces, SECONDS)."""
    shown = smoothed(power)
    n = len(shown) // SECONDS
    return sensors[: n * SECONDS].reshape(n, SECONDS, 4), shown[: n * SECONDS].reshape(n, SECONDS)


def network(P, x):
    h = np.zeros((len(x), HIDDEN))
    outputs = []
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ P["in"] + h @ P["on"] + P["b"])
        outputs.append(h @ P["out"])
    return np.concatenate(outputs, axis=1)


def loss(P, x, y):
    return np.mean((network(P, x) - y)[:, MEAN_OF:] ** 2)


x, y = pieces(*ride(6000))
later_x, later_y = pieces(*ride(2000))
mean, std, middle, spread = x.mean(axis=(0, 1)), x.std(axis=(0, 1)), y.mean(), y.std()
x, later_x, y, later_y = (x - mean) / std, (later_x - mean) / std, (y - middle) / spread, (later_y - middle) / spread

P = {
    "in": rng.normal(size=(4, HIDDEN)) / 2, "on": rng.normal(size=(HIDDEN, HIDDEN)) * 0.2,
    "b": np.zeros(HIDDEN), "out": rng.normal(size=(HIDDEN, 1)) / HIDDEN**0.5,
}
m, v = mg.tree_map(np.zeros_like, P), mg.tree_map(np.zeros_like, P)
gradient = mg.value_and_grad(loss)
for t in range(1, 161):
    rows = rng.integers(len(x), size=24)
    value, g = gradient(P, x[rows], y[rows])
    for k in P:
        m[k], v[k] = 0.9 * m[k] + 0.1 * g[k], 0.99 * v[k] + 0.01 * g[k] ** 2
        P[k] = P[k] - 0.01 * (m[k] / (1 - 0.9**t)) / (np.sqrt(v[k] / (1 - 0.99**t)) + 1e-8)
    if t % 40 == 0:
        print(t, f"loss {value:.3f}", f"next ride {loss(P, later_x, later_y) ** 0.5 * spread:.1f} W off")
