import numpy as np
import minigrad as mg

# Raw counts of eight geophones; half precision keeps the archive small.
rng = np.random.default_rng(141)
strength = rng.uniform(0.2, 2.0, 600)
direction = rng.normal(size=8)
counts = (800 * strength[:, None] * direction + 60 * rng.normal(size=(600, 8))).astype(np.float16)
magnitude = np.log(strength)


def normalise(block):
    scale = np.sqrt(np.mean(block * block, axis=0))
    return block / scale


X = normalise(counts).astype(np.float32)
y = magnitude.astype(np.float32)

net = {
    "in": mg.Tensor((rng.normal(size=(8, 16)) / np.sqrt(8)).astype(np.float32), requires_grad=True),
    "shift": mg.Tensor(np.zeros(16, np.float32), requires_grad=True),
    "out": mg.Tensor((rng.normal(size=16) / 4).astype(np.float32), requires_grad=True),
    "base": mg.Tensor(np.float32(0), requires_grad=True),
}


def estimate(x):
    return np.tanh(x @ net["in"] + net["shift"]) @ net["out"] + net["base"]


for step in range(600):
    rows = rng.integers(0, 500, 50)
    loss = ((estimate(X[rows]) - y[rows]) ** 2).mean()
    loss.backward()
    for p in net.values():
        p.data -= np.float32(0.1) * p.grad.data
        p.zero_grad()
    if step % 100 == 99:
        print("step", step + 1, "loss", round(loss.item(), 4))

print("unseen quakes", np.mean((estimate(X[500:]).numpy() - y[500:]) ** 2).round(4), "variance", y[500:].var().round(4))
