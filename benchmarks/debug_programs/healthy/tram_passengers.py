"""Passengers of a tram line in the next quarter of an hour, from the last eight quarters, the hour and the day."""
import numpy as np
import minigrad as mg
from numpy.lib.stride_tricks import sliding_window_view

PAST, DAYS = 8, 30
rng = np.random.default_rng(99)

# %% counts for each quarter
quarter = np.arange(96 * DAYS)
hour, day = quarter % 96 / 4, quarter // 96 % 7
usual = 40 + 60 * np.exp(-((hour - 8) ** 2) / 3) * (day < 5) + 50 * np.exp(-((hour - 17) ** 2) / 6) + 15 * (day == 5)
usual = usual * np.where((hour < 5), 0.1, 1.0)
mood = np.zeros(len(quarter))
for t in range(1, len(quarter)):
    mood[t] = 0.95 * mood[t - 1] + 0.06 * rng.normal()
passengers = rng.poisson(usual * np.exp(mood)).astype(float)

# %% rows: what is known before a quarter begins, and its passengers
y = np.sqrt(passengers)
known = sliding_window_view(y, PAST)[:-1]
clock = np.column_stack([np.sin(np.pi * hour / 12), np.cos(np.pi * hour / 12), np.sin(np.pi * hour / 6), np.cos(np.pi * hour / 6), day >= 5])
x, target = np.concatenate([known, clock[PAST:]], axis=1), y[PAST:]
cut = 96 * (DAYS - 7) - PAST
mean, std = x[:cut].mean(axis=0), x[:cut].std(axis=0)
middle, spread = target[:cut].mean(), target[:cut].std()
x, target = (x - mean) / std, (target - middle) / spread
print(x.shape, target.shape)

# %% the network
layers = [
    {"W": rng.normal(size=(a, b)) / a**0.5, "b": np.zeros(b)} for a, b in ((x.shape[1], 32), (32, 16), (16, 1))
]


def forecast(layers, x):
    for layer in layers[:-1]:
        x = np.tanh(x @ layer["W"] + layer["b"])
    return (x @ layers[-1]["W"] + layers[-1]["b"])[:, 0]


def loss(layers, x, y):
    return np.mean((forecast(layers, x) - y) ** 2)


gradient = mg.value_and_grad(loss)
velocity = mg.tree_map(np.zeros_like, layers)
step, steps = 0, 20 * (cut // 50)
for epoch in range(20):
    for rows in np.array_split(rng.permutation(cut), cut // 50):
        rate = 0.03 * min(1, (step + 1) / 30) * (1 - step / steps)
        value, slopes = gradient(layers, x[rows], target[rows])
        velocity = mg.tree_map(lambda v, g: 0.9 * v - rate * g, velocity, slopes)
        layers = mg.tree_map(np.add, layers, velocity)
        step += 1
    if epoch % 5 == 4:
        print(epoch + 1, f"{loss(layers, x[:cut], target[:cut]):.4f}", f"last week {loss(layers, x[cut:], target[cut:]):.4f}")

last = (y[PAST - 1 : -1][cut:] - middle) / spread
print(f"as in the quarter before: {np.mean((last - target[cut:]) ** 2):.4f}")
