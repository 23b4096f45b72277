# Temperature by altitude and latitude.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(125)
X = rng.normal(size=(90, 2))
y = 12 - 4 * X[:, 0] - 6 * X[:, 1] + 0.5 * rng.normal(size=90)

w = mg.Tensor(np.zeros((2, 1)), requires_grad=True)
b = mg.Tensor(np.zeros(1), requires_grad=True)
for it in range(400):
    pred = X @ w + b
    loss = ((pred - y) ** 2).mean()
    loss.backward()
    w.data -= 0.05 * w.grad
    b.data -= 0.05 * b.grad
    w.zero_grad()
    b.zero_grad()
    if it % 50 == 0:
        print(f"iteration {it}: loss {loss.item():.3f}")
print("w", w.numpy()[:, 0].round(2), "b", b.numpy().round(2))
