# %% sort coins by diameter, weight and colour
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(102)
coins = np.array([[16.3, 2.3, 0.9], [18.8, 3.1, 0.9], [21.3, 3.9, 0.9], [19.8, 4.1, 0.5], [22.3, 5.7, 0.5], [24.3, 7.8, 0.4]])
which = rng.integers(0, 6, 300)
seen = coins[which] + rng.normal(size=(300, 3)) * [0.3, 0.15, 0.05]
seen = (seen - seen.mean(0)) / seen.std(0)
picked = np.eye(6)[which]

# %%
W = Tensor(np.zeros((3, 6)), requires_grad=True)
b = Tensor(np.zeros(6), requires_grad=True)

# %%
curve = []
for it in range(400):
    z = seen @ W + b
    z = z - z.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    loss = -(picked * logp).sum(axis=1).mean()
    loss.backward()
    W.data -= 4.0 * W.grad
    b.data -= 4.0 * b.grad
    W.zero_grad()
    b.zero_grad()
    curve.append(loss.item())

# %%
print("loss", curve[0], curve[10], curve[100], curve[-1])
print("sorted right:", ((seen @ W + b).numpy().argmax(1) == which).mean())
