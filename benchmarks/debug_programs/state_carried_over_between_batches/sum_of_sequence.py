"""Running sums of short sequences, with a recurrent network by hand."""

import numpy as np

from minigrad import Tensor, no_grad

rng = np.random.default_rng(155)
H, B, LONGEST = 16, 25, 8
Wx = Tensor(rng.normal(0, 0.5, (1, H)), requires_grad=True)
Wh = Tensor(0.9 * np.linalg.qr(rng.normal(size=(H, H)))[0], requires_grad=True)
b = Tensor(np.zeros(H), requires_grad=True)
Wy = Tensor(rng.normal(0, 0.3, (H, 1)), requires_grad=True)
params = [Wx, Wh, b, Wy]
x = rng.normal(0, 0.4, size=(500, LONGEST))
y = np.cumsum(x, axis=1)


def read(x, h):
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t : t + 1] @ Wx + h @ Wh + b)
    return h


h = np.zeros((B, H))
for epoch in range(40):
    for rows in np.split(rng.permutation(500), 500 // B):
        n = rng.integers(2, LONGEST + 1)
        h = read(x[rows, :n], h)
        loss = ((h @ Wy - y[rows, n - 1 : n]) ** 2).mean()
        loss.backward()
        for p in params:
            p.data -= 0.05 * p.grad
            p.zero_grad()
        h = h.detach()
    if epoch % 4 == 0:
        with no_grad():
            error = ((read(x[:, :5], np.zeros((500, H))) @ Wy - y[:, 4:5]) ** 2).mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, error {error:.4f} (variance {y[:, 4].var():.4f})")
