import numpy as np
from minigrad import Tensor, relu

# Edible or not? A wide ReLU network on 5 measurements; it is far wider than needed, and some units are idle.
rng = np.random.default_rng(209)
caps = rng.normal(size=(500, 5))
edible = (caps[:, 0] * caps[:, 1] + caps[:, 2] > 0).astype(float)
WIDTH = 100

W1 = Tensor(rng.normal(size=(5, WIDTH)) * np.sqrt(2 / 5), requires_grad=True, name="W1")
b1 = Tensor(rng.normal(-1.5, 1.5, WIDTH), requires_grad=True, name="b1")
W2 = Tensor(rng.normal(size=WIDTH) * np.sqrt(2 / WIDTH), requires_grad=True, name="W2")
b2 = Tensor(0.0, requires_grad=True, name="b2")
params = [W1, b1, W2, b2]
speed = [np.zeros(p.shape) for p in params]


def network(x):
    return relu(x @ W1 + b1) @ W2 + b2


def bce(z, t):
    return (np.logaddexp(0, z) - t * z).mean()


for epoch in range(60):
    order = rng.permutation(400)
    for rows in np.split(order, 10):
        for p in params:
            p.zero_grad()
        loss = bce(network(caps[rows]), edible[rows])
        loss.backward()
        for p, v in zip(params, speed):
            v *= 0.9
            v -= 0.05 * p.grad.numpy()
            p.data += v
    if epoch % 10 == 9:
        right = (network(caps[400:]).numpy() > 0) == (edible[400:] > 0.5)
        print(f"epoch {epoch + 1}  loss {loss.item():.4f}  unseen {right.mean():.3f}")

active = (caps @ W1.numpy() + b1.numpy() > 0).mean(axis=0)
print("units active for less than 2% of the caps:", int((active < 0.02).sum()), "of", WIDTH)
