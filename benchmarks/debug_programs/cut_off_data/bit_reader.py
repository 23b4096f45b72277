"""An Elman network, by hand: was the first of six bits a one?"""

import numpy as np

import nn
from minigrad import Tensor


class Elman:
    def __init__(self, n_in, n_hidden, n_out, rng):
        def matrix(rows, columns):
            return Tensor(rng.normal(0, 0.4 / np.sqrt(rows), (rows, columns)), requires_grad=True)

        self.U = matrix(n_in, n_hidden)
        self.W = matrix(n_hidden, n_hidden)
        self.V = matrix(n_hidden, n_out)
        self.b = Tensor(np.zeros(n_hidden), requires_grad=True)
        self.c = Tensor(np.zeros(n_out), requires_grad=True)

    def __call__(self, x):
        h = Tensor(np.zeros((len(x), self.W.shape[0])))
        for t in range(x.shape[1]):
            h = np.tanh(x[:, t] @ self.U + h.data @ self.W + self.b)
        return h @ self.V + self.c

    def parameters(self):
        return [self.U, self.W, self.V, self.b, self.c]


rng = np.random.default_rng(7)
net = Elman(1, 10, 2, rng)
optimizer = nn.Adam(net.parameters(), lr=0.01)
for step in range(600):
    bits = rng.integers(0, 2, size=(64, 6))
    optimizer.zero_grad()
    out = net(2.0 * bits[:, :, None] - 1)
    loss = nn.cross_entropy(out, bits[:, 0])
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"{step}: loss {loss.item():.4f}")
bits = rng.integers(0, 2, size=(500, 6))
print("accuracy", (net(2.0 * bits[:, :, None] - 1).numpy().argmax(axis=1) == bits[:, 0]).mean())
