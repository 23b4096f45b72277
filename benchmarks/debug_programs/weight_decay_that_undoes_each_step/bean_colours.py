import numpy as np
import minigrad as mg

def beans(rng, n):
    """Colour and shape of dried beans of four kinds."""
    kind = rng.integers(0, 4, n)
    centre = np.array([[0.2, 0.8, 1.2], [0.9, 0.3, 0.4], [0.5, 0.5, 2.0], [0.1, 0.1, 0.9]])
    return (centre[kind] - 0.7) / 0.5 + 0.25 * rng.normal(size=(n, 3)), kind

def init(rng):
    return {"W1": rng.normal(size=(3, 32)) * 0.6, "b1": np.zeros(32), "W2": rng.normal(size=(32, 4)) * 0.2, "b2": np.zeros(4)}

def forward(p, x):
    return mg.relu(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]

def objective(p, x, kind):
    return mg.cross_entropy(forward(p, x), kind)

def update(p, g, lr, decay):
    new = {}
    for name in p:
        kept = p[name] * (1 - decay) if p[name].ndim == 2 else p[name]
        new[name] = kept - lr * g[name]
    return new

rng = np.random.default_rng(31)
x, kind = beans(rng, 400)
xt, kt = beans(rng, 200)
p = init(rng)
slope = mg.value_and_grad(objective)
for epoch in range(30):
    for i in range(0, 400, 40):
        value, g = slope(p, x[i : i + 40], kind[i : i + 40])
        p = update(p, g, lr=0.05, decay=0.1)
    if epoch % 6 == 5:
        print("epoch", epoch + 1, "loss", round(float(value), 4))

print("loss", round(float(objective(p, xt, kt)), 4), "accuracy", (forward(p, xt).argmax(1) == kt).mean())
