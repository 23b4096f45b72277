# %% [markdown]
# Draw a map of twelve cities from the table of their distances

# %%
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(11)
places = rng.uniform(0, 10, (12, 2))
table = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))

# %%
points = Tensor(rng.uniform(0, 10, (12, 2)), requires_grad=True)
rate = 0.4
for step in range(300):
    offsets = points.reshape(12, 1, 2) - points.reshape(1, 12, 2)
    distances = np.sqrt((offsets**2).sum(axis=-1))
    stress = ((distances - table) ** 2).mean()
    stress.backward()
    points.data -= rate * points.grad
    points.zero_grad()
    if step % 60 == 0:
        print(step, round(stress.item(), 4))

# %%
print("stress", round(stress.item(), 4))
