"""Card payments: two in a hundred are fraud. The network must find most of them, with few false alarms."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(91)


def payments(n):
    fraud = (rng.random(n) < 0.02).astype(float)
    amount = rng.normal(0, 1, n) + 0.9 * fraud
    abroad = (rng.random(n) < 0.1 + 0.5 * fraud).astype(float)
    gap = rng.exponential(1, n) * (1 - 0.7 * fraud)
    night = (rng.random(n) < 0.15 + 0.35 * fraud).astype(float)
    shop = rng.normal(0, 1, n) + 1.5 * fraud
    return np.column_stack([amount, abroad, np.log(gap + 0.05), night, shop]), fraud


x_train, fraud_train = payments(6000)
x_test, fraud_test = payments(6000)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
positive = (1 - fraud_train).sum() / fraud_train.sum()          # how many honest payments there are for each fraud

P = {
    "W1": rng.normal(size=(5, 20)) * (2 / 5) ** 0.5, "b1": np.zeros(20),
    "W2": rng.normal(size=(20, 1)) / 20**0.5, "b2": np.zeros(1),
}


def logit(P, x):
    return (np.maximum(x @ P["W1"] + P["b1"], 0) @ P["W2"] + P["b2"])[:, 0]


def loss(P, x, fraud):
    z = logit(P, x)
    factor = np.where(fraud == 1, positive, 1.0)
    return np.sum(factor * (np.logaddexp(0, z) - fraud * z)) / np.sum(factor)


gradient = mg.value_and_grad(loss)
m, v, t = mg.tree_map(np.zeros_like, P), mg.tree_map(np.zeros_like, P), 0
for epoch in range(10):
    values = []
    for rows in rng.permutation(6000).reshape(-1, 200):
        t += 1
        value, g = gradient(P, x_train[rows], fraud_train[rows])
        values.append(float(value))
        for k in P:
            m[k], v[k] = 0.9 * m[k] + 0.1 * g[k], 0.99 * v[k] + 0.01 * g[k] ** 2
            P[k] = P[k] - 0.003 * m[k] / (1 - 0.9**t) / (np.sqrt(v[k] / (1 - 0.99**t)) + 1e-8)
    if epoch % 3 == 0:
        print(epoch, round(np.mean(values), 4))

alarm = logit(P, x_test) > 0
found, false = alarm[fraud_test == 1].mean(), alarm[fraud_test == 0].mean()
print(f"fraud found: {found:.3f}, false alarms: {false:.3f}")
