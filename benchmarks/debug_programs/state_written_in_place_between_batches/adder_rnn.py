"""A recurrent network, written by hand, that sums short sequences."""

import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(3)
HIDDEN, BATCH, LENGTH = 8, 16, 6


class Adder:
    def __init__(self):
        self.W = Tensor(rng.normal(0, 0.4, (1, HIDDEN)), requires_grad=True)
        self.U = Tensor(np.eye(HIDDEN) * 0.9, requires_grad=True)
        self.V = Tensor(rng.normal(0, 0.4, (HIDDEN, 1)), requires_grad=True)
        self.state = np.zeros((BATCH, HIDDEN))

    def __call__(self, x):
        h = Tensor(self.state.copy())
        for t in range(LENGTH):
            h = np.tanh(x[:, t : t + 1] @ self.W + h @ self.U)
        return h @ self.V, h

    def parameters(self):
        return [self.W, self.U, self.V]


net = Adder()
recent = []
for step in range(900):
    x = rng.normal(0, 0.5, (BATCH, LENGTH))
    y = x.sum(axis=1, keepdims=True)
    out, h = net(x)
    loss = ((out - y) ** 2).mean()
    loss.backward()
    for p in net.parameters():
        p.data -= 0.05 * np.clip(p.grad.numpy(), -1, 1)
        p.zero_grad()
    net.state[:] = h.numpy()
    recent.append(loss.item())
    if step % 150 == 149:
        print(step + 1, round(np.mean(recent[-100:]), 4))
