# Fit a curve with a bump using one hidden layer.
import numpy as np

from minigrad import Tensor, relu

rng = np.random.default_rng(12)
x = np.linspace(0, 2, 120)[:, None]
y = np.exp(-((x - 1.2) ** 2) / 0.05) + 0.02 * rng.normal(size=x.shape)

W1 = Tensor(rng.normal(0, 1.5, (1, 30)), requires_grad=True)
b1 = Tensor(rng.normal(0, 1.5, 30), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.2, (30, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)
speed = {}


def train_step(lr):
    h = relu(x @ W1)
    out = h @ W2 + b2
    loss = ((out - y) ** 2).mean()
    loss.backward()
    for p in (W1, b1, W2, b2):
        if p.grad is not None:
            v = speed.get(id(p), 0.0) * 0.9 + p.grad.numpy()
            p.data -= lr * v
            speed[id(p)] = v
            p.zero_grad()
    return loss.item()


for step in range(1500):
    loss = train_step(0.02)
    if step % 150 == 0:
        print(f"{step:5d}  {loss:.5f}")
