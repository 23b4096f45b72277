import numpy as np
from minigrad import Tensor

g = np.random.default_rng(4)
IDENTITIES, DIM = 8, 20
centres = g.normal(size=(IDENTITIES, DIM)) * 1.2
who = g.integers(0, IDENTITIES, 240)
photos = centres[who] + g.normal(size=(240, DIM)) * 0.9


class Twin:
    def __init__(self, d, k):
        self.A = Tensor(g.normal(size=(d, 24)) / np.sqrt(d), requires_grad=True)
        self.B = Tensor(g.normal(size=(24, k)) / np.sqrt(24), requires_grad=True)

    def embed(self, x):
        return np.tanh(x @ self.A) @ self.B

    def distance(self, x, y):
        d = self.embed(x) - self.embed(y)
        return np.sqrt((d * d).sum(axis=1))

    def params(self):
        return [self.A, self.B]


def draw(size):
    i = g.integers(0, len(photos), size)
    j = np.where(g.random(size) < 0.5, g.integers(0, len(photos), size), [g.choice(np.flatnonzero(who == who[k])) for k in i])
    return photos[i], photos[j], (who[i] == who[j]).astype(float)


net = Twin(DIM, 6)
history = []
for step in range(400):
    a, b, same = draw(16)
    d = net.distance(a, b)
    loss = (same * d**2 + (1 - same) * np.maximum(2.0 - d, 0) ** 2).mean()
    loss.backward()
    for p in net.params():
        p.data -= 0.05 * p.grad
        p.zero_grad()
    history.append(loss.item())

print("first 20:", np.mean(history[:20]), "last 20:", np.mean(history[-20:]))
