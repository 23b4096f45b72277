# %% firing curves of a potter's kiln
import numpy as np
import minigrad as mg

rng = np.random.default_rng(23)

# %% hours since lighting, amount of wood -> temperature
hours = rng.uniform(0, 10, 400)
wood = rng.uniform(1, 4, 400)
temperature = 300 * np.sqrt(wood) * (1 - np.exp(-hours / 3)) - 4 * (hours - 6).clip(0) ** 2
temperature = temperature + rng.normal(0, 8, 400)

X = np.stack([hours / 5 - 1, wood / 1.5 - 1.6], axis=1)
Y = (temperature - temperature.mean()) / temperature.std()
train, test = slice(0, 300), slice(300, 400)

# %% a network of one hidden layer


def fresh(inputs, hidden):
    return [
        rng.normal(0, 1, (inputs, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, hidden),
        np.zeros(()),
    ]


def network(weights, x):
    w1, b1, w2, b2 = weights
    return np.tanh(x @ w1 + b1) @ w2 + b2


def error(weights, x, y):
    return np.mean((network(weights, x) - y) ** 2)


# %% training
weights = fresh(2, 20)
rate = 0.1
slope = mg.value_and_grad(error)
curve = []
for epoch in range(600):
    value, grads = slope(weights, X[train], Y[train])
    for w, g in zip(weights, grads):
        w = w - rate * g
    curve.append(float(value))

# %% result
print("first and last loss:", round(curve[0], 4), round(curve[-1], 4))
off = np.abs(network(weights, X[test]) - Y[test]).mean() * temperature.std()
print(f"on other firings the curve is off by {off:.1f} degrees")
