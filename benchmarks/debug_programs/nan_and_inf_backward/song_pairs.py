# %% [markdown]
# Songs as points: two songs that are often played together should end up close to each other.

# %%
import numpy as np

import nn
from minigrad import Tensor, relu

rng = np.random.default_rng(5)
genre = rng.integers(0, 4, 300)
E = Tensor(rng.normal(size=(300, 2)), requires_grad=True)
optimizer = nn.Adam([E], lr=0.05)

# %%
history = []
for step in range(200):
    i = rng.integers(0, 300, 16)
    j = rng.integers(0, 300, 16)
    same = genre[i] == genre[j]
    difference = E[i] - E[j]
    distance = np.sqrt((difference**2).sum(axis=1))
    loss = np.where(same, distance**2, relu(2.0 - distance) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if step % 20 == 0:
        print(step, round(history[-1], 4))

# %%
centres = np.stack([E.numpy()[genre == g].mean(axis=0) for g in range(4)])
print("centres of the genres")
print(centres.round(2))
