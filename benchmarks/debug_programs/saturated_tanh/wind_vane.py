"""The wind at a pass from sixteen stations in the valley, in east and north, with arrays and a list of matrices."""
import numpy as np
from minigrad import value_and_grad

STATIONS, WIDTH = 16, 48
rng = np.random.default_rng(70)


def matrix(rows, columns):
    return rng.normal(size=(rows, columns)) * np.sqrt(rows)


def valley(count):
    air = rng.normal(size=(count, STATIONS))
    east = np.sin(air[:, 0] + air[:, 1]) + 0.5 * air[:, 2]
    north = np.cos(air[:, 3]) * air[:, 4]
    return air, np.stack([east, north], axis=1)


def vane(weights, air):
    h = air
    for W, b in weights:
        h = np.tanh(h @ W + b)
    return h


def miss(model, air, wind):
    weights, (out, shift) = model
    return ((vane(weights, air) @ out + shift - wind) ** 2).mean()


sizes = [STATIONS, WIDTH, WIDTH]
weights = [(matrix(a, b), np.zeros(b)) for a, b in zip(sizes, sizes[1:])]
model = weights, (np.zeros((WIDTH, 2)), np.zeros(2))
air, wind = valley(3000)
new_air, new_wind = valley(500)

slope = value_and_grad(miss)
for step in range(2401):
    pick = rng.integers(len(air), size=64)
    value, (g_weights, g_out) = slope(model, air[pick], wind[pick])
    rate = 0.1 if step < 2000 else 0.03
    weights, out = model
    weights = [(W - rate * gW, b - rate * gb) for (W, b), (gW, gb) in zip(weights, g_weights)]
    model = weights, (out[0] - rate * g_out[0], out[1] - rate * g_out[1])
    if step % 600 == 0:
        print(f"{step:5d} {value:.4f}")
print(f"new days {miss(model, new_air, new_wind):.4f}, variance {new_wind.var():.4f}")
