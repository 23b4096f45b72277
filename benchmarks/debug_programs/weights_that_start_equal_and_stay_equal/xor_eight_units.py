# %% [markdown]
# XOR, with eight hidden units.

# %%
import numpy as np

from minigrad import Tensor

x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
y = np.array([[0.0], [1.0], [1.0], [0.0]])

W1 = Tensor(np.full((2, 8), 0.5), requires_grad=True)
b1 = Tensor(np.zeros(8), requires_grad=True)
W2 = Tensor(np.full((8, 1), 0.5), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)

# %%
for epoch in range(3000):
    h = np.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    loss = ((out - y) ** 2).mean()
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if epoch % 300 == 0:
        print(f"epoch {epoch}: {loss.item():.5f}")

# %%
print(out.numpy().round(2)[:, 0])
