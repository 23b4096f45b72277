"""Follow one long record of a tide in chunks: the state goes on from chunk to chunk, its history does not."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(62)
time = np.arange(4000)
tide = np.sin(time / 9) + 0.5 * np.sin(time / 23 + 1) + rng.normal(0, 0.03, time.size)
ROWS, UNITS, CHUNK = 4, 20, 20
record = tide.reshape(ROWS, 1000)

W = Tensor(rng.normal(0, 0.5, (1, UNITS)), requires_grad=True)
U = Tensor(rng.normal(0, 0.9 / np.sqrt(UNITS), (UNITS, UNITS)), requires_grad=True)
b = Tensor(np.zeros(UNITS), requires_grad=True)
V = Tensor(rng.normal(0, 0.2, (UNITS, 1)), requires_grad=True)
c = Tensor(np.zeros(1), requires_grad=True)
weights = [W, U, b, V, c]
squares = [np.zeros(w.shape) for w in weights]

for epoch in range(8):
    h = Tensor(np.zeros((ROWS, UNITS)))
    losses = []
    for start in range(0, 980, CHUNK):
        h = h.detach()
        total = 0.0
        for t in range(start, start + CHUNK):
            h = np.tanh(record[:, t : t + 1] @ W + h @ U + b)
            total = total + ((h @ V + c - record[:, t + 1 : t + 2]) ** 2).mean()
        loss = total / CHUNK
        loss.backward()
        for w, s in zip(weights, squares):
            g = w.grad.numpy()
            s[:] = 0.95 * s + 0.05 * g * g
            w.data -= 0.003 * g / (np.sqrt(s) + 1e-6)
            w.zero_grad()
        losses.append(loss.item())
    print(f"epoch {epoch}: {np.mean(losses):.4f}")
print("variance of the record:", round(float(record.var()), 4))
