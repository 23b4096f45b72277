"""How many kilograms will the stall sell? Counts of passers-by, price in cents, day of the year."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(35)
raw = np.stack([rng.poisson(300, 250), rng.integers(150, 400, 250), rng.integers(1, 366, 250)], axis=1)
sold = 0.1 * raw[:, 0] * (500 - raw[:, 1]) / 250 * (1.2 + np.sin(raw[:, 2] / 365 * 2 * np.pi)) + rng.normal(0, 0.5, 250)
goal = (sold - sold.mean()) / sold.std()

features = np.empty_like(raw)
for column in range(raw.shape[1]):
    values = raw[:, column]
    features[:, column] = (values - values.mean()) / values.std()


def layer(n_in, n_out):
    return {"weight": rng.normal(size=(n_in, n_out)) / np.sqrt(n_in), "bias": np.zeros(n_out)}


network = [layer(3, 24), layer(24, 24), layer(24, 1)]


def run(network, x):
    for depth, part in enumerate(network):
        x = x @ part["weight"] + part["bias"]
        if depth < len(network) - 1:
            x = np.tanh(x)
    return x[:, 0]


def error(network):
    return np.mean((run(network, features) - goal) ** 2)


descend = mg.value_and_grad(error)
for turn in range(1000):
    now, slope = descend(network)
    network = mg.tree_map(lambda p, g: p - 0.1 * g, network, slope)
    if turn % 200 == 0:
        print(turn, round(float(now), 4))
print("unexplained share of the variance:", round(float(now), 4))
