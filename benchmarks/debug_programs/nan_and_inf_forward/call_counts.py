# Calls per hour: Poisson regression with a hidden layer, on plain arrays.
import numpy as np
import minigrad as mg

np.seterr(all="ignore")
rng = np.random.default_rng(90)
hour = rng.uniform(0, 24, (300, 1))
inputs = np.concatenate([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi)], axis=1)
calls = rng.poisson(np.exp(2.0 + inputs[:, 0] - 0.5 * inputs[:, 1]))

weights = {
    "hidden": rng.normal(0, 0.5, (2, 10)),
    "output": rng.normal(0, 0.3, (10, 1)),
    "bias": np.zeros(1),
}


def negative_log_likelihood(w):
    log_rate = (np.tanh(inputs @ w["hidden"]) @ w["output"] + w["bias"])[:, 0]
    rate = np.exp(log_rate)
    return np.mean(rate - calls * np.log(rate))


RATE = 3.0
descend = mg.value_and_grad(negative_log_likelihood)
for step in range(400):
    value, slope = descend(weights)
    weights = {k: w - RATE * slope[k] for k, w in weights.items()}
    if step < 4 or step % 100 == 0:
        print(step, float(value))
print("last", float(value))
