# %% everything is a column here
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(11)
x = rng.uniform(-2, 2, (150, 1))
y = np.sin(2 * x) + 0.1 * rng.normal(size=(150, 1))

# %% a wide layer, of which many units stay off
W1 = Tensor(rng.choice([-1.0, 1.0], (1, 100)), requires_grad=True)
b1 = Tensor(rng.uniform(-3, 3, 100), requires_grad=True)
W2 = Tensor(rng.normal(size=(100, 1)) * 0.05, requires_grad=True)
b2 = Tensor(np.zeros((1, 1)), requires_grad=True)

# %%
for step in range(3000):
    hidden = np.maximum(x @ W1 + b1, 0)
    residual = y - (hidden @ W2 + b2)
    loss = (residual * residual).sum() / 150
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= 0.01 * p.grad
        p.zero_grad()
    if step % 600 == 0:
        print(step, round(loss.item(), 4))
print("final", round(loss.item(), 4), "units that are never on:", int((hidden.numpy().max(axis=0) == 0).sum()))
