# %% [markdown]
# Solve y'' = -4 y, y(0) = 1, y'(0) = 0 with a network: the loss contains derivatives of the network.

# %%
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(226)
W1 = mg.Tensor(rng.normal(0, 1.0, (1, 20)), requires_grad=True)
b1 = mg.Tensor(rng.normal(0, 1.0, 20), requires_grad=True)
W2 = mg.Tensor(rng.normal(0, 0.3, (20, 1)), requires_grad=True)
t = np.linspace(0, 1.5, 30)[:, None]


def y(t):
    return 1 + t * t * (np.tanh(t @ W1 + b1) @ W2)


# %%
optimizer = nn.Adam([W1, b1, W2], lr=0.02)
for step in range(400):
    time = mg.Tensor(t, requires_grad=True)
    (speed,) = mg.autograd_grad(y(time).sum(), time, create_graph=True)
    (force,) = mg.autograd_grad(speed.sum(), time, create_graph=True)
    loss = ((force + 4 * y(time)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step}: {loss.item():.5f}")

# %%
print("largest error", np.abs(y(t).numpy() - np.cos(2 * t)).max().round(4))
