import numpy as np

import minigrad as mg

# Is the concrete strong enough? Logistic regression on its mixture, in plain NumPy functions.
rng = np.random.default_rng(95)
mixture = rng.normal(0, 1.5, size=(250, 5))
mixture[:, 1] = 0.8 * mixture[:, 0] + 0.4 * mixture[:, 1]
strong = (mixture @ [0.6, -0.4, 0.2, 0.0, 0.8] + 1.5 * rng.normal(size=250) > 0).astype(float)


def cost(p, x, y):
    z = x @ p["w"] + p["b"]
    return np.mean(np.logaddexp(0.0, z) - y * z)


params = {"w": np.zeros(5), "b": 0.0}
learning_rate = 12.0
value_and_gradient = mg.value_and_grad(cost)
for step in range(200):
    value, gradient = value_and_gradient(params, mixture, strong)
    params = {name: params[name] - learning_rate * gradient[name] for name in params}
    if step % 10 < 2:
        print(f"step {step:3d}: {float(value):.4f}")
