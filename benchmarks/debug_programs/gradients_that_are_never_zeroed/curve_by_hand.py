# Polynomial regression, downhill.
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(55)
x = rng.uniform(-1, 1, 100)
y = 1 - 2 * x + 3 * x**3 + 0.1 * rng.normal(size=100)
powers = np.stack([x**k for k in range(4)], axis=1)

w = Tensor(np.zeros(4), requires_grad=True)
for step in range(300):
    loss = ((powers @ w - y) ** 2).mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
print(w.numpy().round(2))
