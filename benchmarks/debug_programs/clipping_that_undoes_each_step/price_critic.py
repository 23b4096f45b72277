import numpy as np
from minigrad import Tensor

# A "critic" scores used-car offers: high for honest, low for fake. The weights stay in a box after each update.
rng = np.random.default_rng(61)
n, d, h = 400, 6, 16
honest = rng.normal(size=(n, d))
fake = honest[rng.permutation(n)] + rng.normal(1.2, 0.4, size=(n, d)) * np.array([1, -1, 1, 0, 1, -1])
offers = np.concatenate([honest, fake])
target = np.concatenate([np.ones(n), -np.ones(n)])
BOX = 0.01


class Critic:
    def __init__(self):
        self.W = Tensor(rng.normal(size=(d, h)) / np.sqrt(d), requires_grad=True)
        self.b = Tensor(np.zeros(h), requires_grad=True)
        self.v = Tensor(rng.normal(size=h) / np.sqrt(h), requires_grad=True)
        self.c = Tensor(0.0, requires_grad=True)

    def weights(self):
        return self.W, self.b, self.v, self.c

    def __call__(self, x):
        return np.tanh(x @ self.W + self.b) @ self.v + self.c


critic = Critic()
for step in range(500):
    rows = rng.integers(0, 2 * n, 64)
    loss = ((critic(offers[rows]) - target[rows]) ** 2).mean()
    loss.backward()
    for w in critic.weights():
        w.data = np.clip(w.data - 0.1 * w.grad.data, -BOX, BOX)
        w.zero_grad()
    if step % 100 == 99:
        print(f"{step + 1}: loss {loss.item():.4f}")

print("honest", critic(honest).numpy().mean().round(3), "fake", critic(fake).numpy().mean().round(3))
print("loss on all offers", ((critic(offers).numpy() - target) ** 2).mean().round(3))
