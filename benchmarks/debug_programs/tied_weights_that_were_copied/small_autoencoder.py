import numpy as np

from minigrad import Tensor


class TiedAutoencoder:
    """x -> tanh(x W + b) -> h W^T + c, with one matrix for both directions."""

    def __init__(self, n, code, seed):
        rng = np.random.default_rng(seed)
        self.W = Tensor(rng.normal(0, 0.15, (n, code)), requires_grad=True)
        self.b = Tensor(np.zeros(code), requires_grad=True)
        self.c = Tensor(np.zeros(n), requires_grad=True)
        self.back = self.W.numpy().T.copy()

    def __call__(self, x):
        h = np.tanh(x @ self.W + self.b)
        return h @ self.back + self.c


rng = np.random.default_rng(165)
factors = rng.normal(size=(400, 5)) * [2.0, 1.5, 1.0, 0.7, 0.5]
data = 0.4 * factors @ np.linalg.qr(rng.normal(size=(30, 5)))[0].T + 0.05 * rng.normal(size=(400, 30))

net = TiedAutoencoder(30, 5, seed=2)
for epoch in range(600):
    loss = ((net(data) - data) ** 2).sum(axis=1).mean()
    loss.backward()
    for p in (net.W, net.b, net.c):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if epoch % 60 == 0:
        print(f"epoch {epoch}: reconstruction error {loss.item():.4f} of {data.var(axis=0).sum():.4f}")
