"""Melt of a glacier from the weather of each day. The memory of the field computer is small: twenty days at a time."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(90)
DAYS, CHUNK, WIDTH = 400, 20, 16


def season(days):
    air, sun, snow = rng.normal(2, 4, days), rng.uniform(0, 1, days), rng.gamma(1.5, 1.0, days)
    melt = np.maximum(air, 0) * (1.0 + 0.8 * sun) - 0.6 * snow + rng.normal(0, 0.3, days)
    return np.stack([(air - 2) / 4, 2 * sun - 1, snow / 1.5 - 1], axis=1), (melt - 2.5) / 3.5


def parameter(*shape):
    return Tensor(rng.normal(scale=shape[0] ** -0.5, size=shape), requires_grad=True)


W1, W2 = parameter(3, WIDTH), parameter(WIDTH, 1)
b1, b2 = Tensor(np.zeros(WIDTH), requires_grad=True), Tensor(np.zeros(1), requires_grad=True)
parameters = [W1, b1, W2, b2]


def melt_of(weather):
    return (np.tanh(weather @ W1 + b1) @ W2 + b2)[:, 0]


weather, melt = season(DAYS)
starts = range(0, DAYS, CHUNK)
for sweep in range(200):
    for p in parameters:
        p.grad = None
    total = 0.0
    for i in starts:
        loss = ((melt_of(weather[i : i + CHUNK]) - melt[i : i + CHUNK]) ** 2).mean()
        loss.backward()
        total += loss.item() / len(starts)
    for p in parameters:
        p.data -= 0.1 * p.grad.numpy()
    if sweep % 40 == 39:
        print(f"sweep {sweep + 1}: {total:.4f}")

new_weather, new_melt = season(200)
error = melt_of(new_weather).numpy() - new_melt
explained = 1 - error.var() / new_melt.var()
print(f"next season: explains {explained:.2f} of the variance, off by {3.5 * np.abs(error).mean():.2f} cm")
