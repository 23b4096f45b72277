# Sugar of the grapes (in degrees Oechsle) from the weather of the last weeks: an MLP on plain arrays.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(8)
n = 800
sun, rain, warmth = rng.gamma(4, 15, n), rng.gamma(2, 12, n), rng.normal(19, 3, n)
slope = rng.uniform(0, 35, n)
oechsle = 60 + 0.25 * sun - 0.2 * rain + 1.1 * (warmth - 19) + 0.3 * slope * np.tanh(sun / 60) + rng.normal(0, 1.5, n)

features = np.stack([sun, rain, warmth, slope], axis=1)
old, new = slice(0, 600), slice(600, None)
mu, sd = features[old].mean(axis=0), features[old].std(axis=0)
x = (features - mu) / sd
level, spread = oechsle[old].mean(), oechsle[old].std()
y = (oechsle - level) / spread


def make(sizes):
    return [{"w": rng.normal(0, a**-0.5, (a, b)), "b": np.zeros(b)} for a, b in zip(sizes[:-1], sizes[1:], strict=True)]


def predict(layers, x):
    for layer in layers[:-1]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return (x @ layers[-1]["w"] + layers[-1]["b"])[:, 0]


def squared(layers, x, y):
    return np.mean((predict(layers, x) - y) ** 2)


step = mg.value_and_grad(squared)
layers = make([4, 20, 1])
for epoch in range(120):
    x_mixed = x[old][rng.permutation(600)]
    y_mixed = y[old][rng.permutation(600)]
    for i in range(0, 600, 30):
        value, slopes = step(layers, x_mixed[i : i + 30], y_mixed[i : i + 30])
        layers = mg.tree_map(lambda p, g: p - 0.05 * g, layers, slopes)
    if epoch % 30 == 29:
        print(f"epoch {epoch + 1:3d}  last batch {value:.3f}")

guess = predict(layers, x[new]) * spread + level
print(f"mean error on new vineyards: {np.abs(guess - oechsle[new]).mean():.2f} degrees")
print(f"the mean of the old ones:    {np.abs(level - oechsle[new]).mean():.2f} degrees")
