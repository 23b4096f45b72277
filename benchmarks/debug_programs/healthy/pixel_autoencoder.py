import numpy as np
import minigrad as mg

# Little pictures of a bar and a spot, pressed through six numbers and drawn again.
rng = np.random.default_rng(1)


def pictures(n):
    row, col = np.mgrid[0:8, 0:8]
    bar = rng.uniform(1, 6, (n, 1, 1))
    cy, cx = rng.uniform(1, 6, (2, n, 1, 1))
    image = np.exp(-((col - bar) ** 2) / 1.5) + np.exp(-((row - cy) ** 2 + (col - cx) ** 2) / 2.5)
    return image.reshape(n, 64) / 1.5


def layer(m, n):
    return {"W": rng.normal(0, m**-0.5, (m, n)), "b": np.zeros(n)}


params = [layer(64, 40), layer(40, 6), layer(6, 40), layer(40, 64)]


def reconstruct(params, x):
    for k, p in enumerate(params):
        x = x @ p["W"] + p["b"]
        if k in (0, 2):
            x = np.tanh(x)
    return x


def loss(params, x):
    return np.mean((reconstruct(params, x) - x) ** 2)


x, unseen = pictures(800), pictures(200)
step = mg.value_and_grad(loss)
m = mg.tree_map(np.zeros_like, params)
v = mg.tree_map(np.zeros_like, params)
for t in range(1, 801):
    value, g = step(params, x[rng.integers(0, 800, 64)])
    m = mg.tree_map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = mg.tree_map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    params = mg.tree_map(
        lambda p, a, b: p - 3e-3 * (a / (1 - 0.9**t)) / (np.sqrt(b / (1 - 0.99**t)) + 1e-8), params, m, v
    )
    if t % 200 == 0:
        print(t, round(float(value), 5))
print("unseen pictures:", round(float(loss(params, unseen)), 5), "their variance:", round(float(np.mean(unseen.var(axis=0))), 5))
