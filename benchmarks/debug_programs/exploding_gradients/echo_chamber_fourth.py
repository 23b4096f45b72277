"""Predict the last sample of an echo from forty samples, with a recurrent network of rectified units."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(57)
LENGTH, UNITS = 40, 24


def echoes(n):
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    speed = rng.uniform(0.2, 0.5, (n, 1))
    wave = np.sin(speed * np.arange(LENGTH + 1) + phase) + rng.normal(0, 0.02, (n, LENGTH + 1))
    return wave[:, :-1], wave[:, -1:]


params = {
    "enter": rng.normal(0, 0.4, (1, UNITS)),
    "again": rng.normal(0, 0.45, (UNITS, UNITS)),
    "bias": np.zeros(UNITS),
    "leave": rng.normal(0, 0.2, (UNITS, 1)),
}


def listen(p, wave):
    h = np.zeros((len(wave), UNITS))
    for t in range(LENGTH):
        h = mg.relu(wave[:, t : t + 1] @ p["enter"] + h @ p["again"] + p["bias"])
    return h @ p["leave"]


def loss(p, wave, following):
    return np.mean((listen(p, wave) - following) ** 2)


learn = mg.value_and_grad(loss)
m, v = mg.tree_map(np.zeros_like, params), mg.tree_map(np.zeros_like, params)
for step in range(1, 301):
    wave, following = echoes(32)
    value, grads = learn(params, wave, following)
    size = np.sqrt(sum(np.sum(g * g) for g in grads.values()))
    m = mg.tree_map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = mg.tree_map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
    params = mg.tree_map(
        lambda p, a, b: p - 0.003 * (a / (1 - 0.9**step)) / (np.sqrt(b / (1 - 0.99**step)) + 1e-8), params, m, v
    )
    if step % 50 == 0 or step == 1:
        print(f"{step:3d}  loss {float(value):10.4g}  size of the gradient {size:10.4g}")

wave, following = echoes(200)
print("error on new echoes:", float(loss(params, wave, following)))
