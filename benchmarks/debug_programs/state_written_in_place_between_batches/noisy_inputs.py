# Regression with noise on the inputs, as a regularisation
import numpy as np

from minigrad import Tensor, relu

rng = np.random.default_rng(160)
X = rng.uniform(-1, 1, size=(320, 4))
Y = np.sin(3 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
clean = X[:80].copy()

W1 = Tensor(rng.normal(0, 0.7, (4, 40)), requires_grad=True)
b1 = Tensor(rng.normal(0, 0.3, 40), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.2, (40, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)

for epoch in range(120):
    for start in range(0, 320, 32):
        batch = X[start : start + 32]
        batch += 0.15 * rng.normal(size=batch.shape)
        loss = ((relu(batch @ W1 + b1) @ W2 + b2 - Y[start : start + 32]) ** 2).mean()
        loss.backward()
        for p in (W1, b1, W2, b2):
            p.data -= 0.05 * p.grad
            p.zero_grad()
    if epoch % 10 == 0:
        error = ((relu(clean @ W1 + b1) @ W2 + b2 - Y[:80]) ** 2).mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, error without noise {error:.4f}")
