"""Tides of a harbour as a sum of waves, fitted by gradient descent."""
import numpy as np
from minigrad import Tensor

hours = np.arange(0, 24 * 14, 1.0)
periods = np.array([12.42, 12.0, 25.82, 23.93])
phase = 2 * np.pi * hours[:, None] / periods
waves = np.concatenate([np.cos(phase), np.sin(phase)], axis=1)
noise = np.random.default_rng(14).normal(size=len(hours))
level = 3.1 + waves @ np.array([1.7, 0.6, -0.2, 0.25, -0.9, 0.4, 0.15, -0.3]) + 0.05 * noise

amplitude = Tensor(np.zeros(8), requires_grad=True)
mean_level = Tensor(np.zeros(1), requires_grad=True)
parameters = [amplitude, mean_level]


def clip_all(tensors, limit):
    for t in tensors:
        np.clip(t.data, -limit, limit, out=t.data)


def mean_error():
    return (waves @ amplitude + mean_level - level)


for sweep in range(300):
    squared = (mean_error() ** 2).mean()
    squared.backward()
    clip_all(parameters, 0.5)
    for t in parameters:
        t.data -= 0.1 * t.grad
        t.zero_grad()
    if sweep % 60 == 0:
        print(f"sweep {sweep:3d}  squared error {squared.item():8.4f}")

print("squared error", round(squared.item(), 4), "mean level", mean_level.numpy().round(2))
