import numpy as np
import minigrad as mg

rng = np.random.default_rng(64)
area = rng.uniform(40, 240, 200)
year = rng.uniform(1900, 2020, 200)
rooms = rng.integers(1, 8, 200).astype(float)
price = 0.01 * area + 0.008 * (year - 1960) + 0.1 * rooms

houses = np.stack([area, year, rooms], axis=1)
W1 = rng.normal(0, 0.5, (3, 16))
b1 = np.zeros(16)
W2 = rng.normal(0, 0.2, 16)
b2 = np.array(0.0)


def net(params, x):
    W1, b1, W2, b2 = params
    hidden = mg.sigmoid(x @ W1 + b1)
    return hidden @ W2 + b2


def cost(params):
    return np.mean((net(params, houses) - price) ** 2)


params = (W1, b1, W2, b2)
gradient = mg.value_and_grad(cost)
for iteration in range(1500):
    value, steps = gradient(params)
    params = tuple(p - 0.05 * s for p, s in zip(params, steps))
    if iteration % 300 == 0:
        print(iteration, round(float(value), 5))
print("done", round(float(value), 5), "variance of the prices", round(float(price.var()), 5))
