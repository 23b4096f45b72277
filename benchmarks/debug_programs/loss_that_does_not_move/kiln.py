# Firing temperature from three dials: linear decay of the learning rate, gradient by mg.value_and_grad.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(27)
dials = rng.uniform(-1, 1, (90, 3))
heat = np.tanh(dials @ np.array([[1.0], [2.0], [-1.0]])) + 0.2

STEPS = 500
BASE = 0.3


def forward(p, x):
    return np.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def objective(p):
    return ((forward(p, dials) - heat) ** 2).mean()


def rate(step):
    return BASE * ((STEPS - step) // STEPS)


p = {
    "w1": rng.normal(0, 0.6, (3, 10)),
    "b1": np.zeros(10),
    "w2": rng.normal(0, 0.3, (10, 1)),
    "b2": np.zeros(1),
}
f = mg.value_and_grad(objective)
for step in range(STEPS):
    value, g = f(p)
    lr = rate(step)
    p = {name: array - lr * g[name] for name, array in p.items()}
    if step % 100 == 0:
        print(f"step {step} loss {float(value):.6f}")
print(f"loss {float(objective(p)):.6f}")
