# %%
import numpy as np

import minigrad as mg

rng = np.random.default_rng(24)
length = rng.uniform(0.2, 2.0, 300)
swing = rng.uniform(0.1, 1.2, 300)
period = 2 * np.pi * np.sqrt(length / 9.81) * (1 + swing**2 / 16) + rng.normal(0, 0.01, 300)
inputs = np.stack([length, swing], axis=1)

# %%
params = [rng.normal(0, 0.7, (2, 16)), np.zeros(16), rng.normal(0, 0.25, 16), np.zeros(())]


def model(params, inputs):
    W, b, v, c = params
    return np.tanh(inputs @ W + b) @ v + c


def error(params, inputs, period):
    predicted = model(params, inputs)
    return np.mean(predicted - period) ** 2


# %%
train = slice(0, 240)
both = mg.value_and_grad(error)
for step in range(1500):
    value, gradients = both(params, inputs[train], period[train])
    params = [p - 0.1 * g for p, g in zip(params, gradients, strict=True)]
    if step % 300 == 0:
        print(step, f"{value:.2e}")

# %%
test = slice(240, 300)
predicted = model(params, inputs[test])
print("typical error in seconds:", np.sqrt(np.mean((predicted - period[test]) ** 2)).round(4))
print("spread of the periods:", period[test].std().round(4))
print("correlation:", np.corrcoef(predicted, period[test])[0, 1].round(4))
