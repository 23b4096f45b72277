"""A recurrent network on one long series, in chunks: the state goes on, the gradient stops at each chunk."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(206)
time = np.arange(1601)
series = np.sin(time / 5) * np.cos(time / 23) + 0.02 * rng.normal(size=1601)

H, CHUNK = 20, 40
Wx = Tensor(rng.normal(0, 0.5, (1, H)), requires_grad=True)
Wh = Tensor(rng.normal(0, 0.8 / np.sqrt(H), (H, H)), requires_grad=True)
bh = Tensor(np.zeros(H), requires_grad=True)
Wy = Tensor(rng.normal(0, 0.3, (H, 1)), requires_grad=True)
params = (Wx, Wh, bh, Wy)
for epoch in range(6):
    h = Tensor(np.zeros((1, H)))
    total = 0.0
    for start in range(0, 1600, CHUNK):
        h = h.detach()
        loss = 0.0
        for t in range(start, start + CHUNK):
            h = np.tanh(series[t : t + 1, None] @ Wx + h @ Wh + bh)
            loss = loss + ((h @ Wy)[0, 0] - series[t + 1]) ** 2
        (loss / CHUNK).backward()
        for p in params:
            p.data -= 0.1 * p.grad
            p.zero_grad()
        total += loss.item()
    print(f"epoch {epoch}: mean squared error {total / 1600:.5f}")
