"""After how many days will an invoice be paid? Learned from invoices of the last year."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(40)

# --- the invoices -----------------------------------------------------------------------------------------------------
n = 2000
amount = rng.lognormal(6, 1, n)
terms = rng.choice([14, 30, 60], n)
reminders = rng.poisson(0.6, n)
december = rng.random(n) < 0.1
public = rng.random(n) < 0.25
days = terms * (1 + 0.3 * public) + 9 * reminders + 3 * np.log(amount) * december + rng.normal(0, 3, n)

table = np.column_stack([np.log(amount), terms, reminders, december, public]).astype(float)
x_train, y_train, x_test, y_test = table[:1600], days[:1600], table[1600:], days[1600:]
mean, std, middle, spread = x_train.mean(axis=0), x_train.std(axis=0), y_train.mean(), y_train.std()


# --- the network ------------------------------------------------------------------------------------------------------
def network(P, x):
    h = np.tanh(x @ P["in"] + P["in0"])
    return (h @ P["out"] + P["out0"])[:, 0]


def loss(P, x, y):
    return np.mean((network(P, x) - y) ** 2)


P = {"in": rng.normal(size=(5, 16)) / 5**0.5, "in0": np.zeros(16), "out": rng.normal(size=(16, 1)) / 4, "out0": np.zeros(1)}
velocity = mg.tree_map(np.zeros_like, P)
gradient = mg.value_and_grad(loss)


# --- the training -----------------------------------------------------------------------------------------------------
def shuffled(*columns):
    return [column[rng.permutation(len(column))] for column in columns]


for epoch in range(15):
    x, y = shuffled((x_train - mean) / std, (y_train - middle) / spread)
    values = []
    for start in range(0, len(x), 40):
        value, g = gradient(P, x[start : start + 40], y[start : start + 40])
        values.append(float(value))
        for name in P:
            velocity[name] = 0.9 * velocity[name] - 0.02 * g[name]
            P[name] = P[name] + velocity[name]
    print(epoch, round(np.mean(values), 4))

guess = network(P, (x_test - mean) / std) * spread + middle
print("days off", round(float(np.abs(guess - y_test).mean()), 2))
