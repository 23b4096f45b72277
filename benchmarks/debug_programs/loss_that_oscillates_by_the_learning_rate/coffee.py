import numpy as np
import minigrad as mg

rng = np.random.default_rng(49)
beans = rng.uniform(-1, 1, size=(120, 3))
taste = 0.5 + 0.3 * np.sin(2 * beans[:, 0]) + 0.2 * beans[:, 1] * beans[:, 2]

def cup(theta, x):
    hidden = np.tanh(x @ theta["grind"] + theta["water"])
    return hidden @ theta["pour"] + theta["sugar"]

def bitterness(theta):
    return np.mean(np.abs(cup(theta, beans) - taste))

theta = {
    "grind": rng.normal(size=(3, 20)),
    "water": np.zeros(20),
    "pour": rng.normal(size=20) * 0.2,
    "sugar": np.zeros(()),
}
brew = mg.value_and_grad(bitterness)
LEARNING_RATE = 0.35
values = []
for cupful in range(200):
    value, change = brew(theta)
    theta = {name: theta[name] - LEARNING_RATE * change[name] for name in theta}
    values.append(float(value))
    if cupful % 10 < 2 and cupful % 40 < 10:
        print(cupful, round(values[-1], 4))
print("mean of the last 20:", np.mean(values[-20:]).round(4), "spread", np.std(values[-20:]).round(4))
