import numpy as np

from minigrad import Tensor

# A sum over all rows as the loss, in float32; the step is divided by the number of rows.
rng = np.random.default_rng(217)
x = rng.normal(size=(1000, 6)).astype(np.float32)
true = np.array([300, -200, 100, 50, 0, 400], np.float32)
y = x @ true + rng.normal(0, 5, 1000).astype(np.float32)
w = Tensor(np.zeros(6, np.float32), requires_grad=True)
for step in range(60):
    loss = ((x @ w - y) ** 2).sum()
    loss.backward()
    w.data -= np.float32(0.1 / 1000) * w.grad
    w.zero_grad()
    if step % 6 == 0:
        print(f"step {step}: {loss.item():.1f}")
print(w.numpy().round(1))
