import numpy as np
import minigrad as mg


def dataset(n, seed):
    """Two lanes with a sensor each: green if exactly one of them is busy."""
    rng = np.random.default_rng(seed)
    lanes = rng.uniform(-1, 1, (n, 2))
    green = (lanes[:, 0] > 0) != (lanes[:, 1] > 0)
    return lanes, green.astype(float)


def init(inputs, hidden):
    return {
        "w1": np.full((inputs, hidden), 0.5),
        "b1": np.zeros(hidden),
        "w2": np.full(hidden, 0.5),
        "b2": 0.0,
    }


def logits(theta, x):
    return np.tanh(x @ theta["w1"] + theta["b1"]) @ theta["w2"] + theta["b2"]


def loss(theta, x, t):
    z = logits(theta, x)
    return np.mean(np.logaddexp(0, z) - t * z)


theta = init(2, 16)
x, t = dataset(400, seed=1)
velocity = {k: 0.0 for k in theta}
gradient = mg.value_and_grad(loss)
for step in range(1500):
    value, g = gradient(theta, x, t)
    for k in theta:
        velocity[k] = 0.9 * velocity[k] - 0.05 * g[k]
        theta[k] = theta[k] + velocity[k]
    if step % 300 == 0:
        print("step", step, "loss", float(value).__round__(4))

x_new, t_new = dataset(400, seed=2)
print("right for", np.mean((logits(theta, x_new) > 0) == (t_new > 0.5)), "of new cases")
