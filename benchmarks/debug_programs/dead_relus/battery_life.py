# %% [markdown]
# How long does a battery last? From current, temperature and age.

# %%
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(2)
current = rng.uniform(15, 60, 500)
temperature = rng.uniform(10, 45, 500)
age = rng.uniform(0, 30, 500)
x = np.stack([current, temperature, age], axis=1).astype(np.float32)
hours = (200 / current + 0.2 * temperature - 0.1 * age + rng.normal(0, 0.2, 500)).astype(np.float32)[:, None]

# %%
rng = np.random.default_rng(0)
model = nn.Sequential(
    nn.Affine(3, 24, rng=rng),
    mg.relu,
    nn.Affine(24, 24, rng=rng),
    mg.relu,
    nn.Affine(24, 1, rng=rng),
)
optimizer = nn.Adam(model.parameters(), lr=0.2)

# %%
losses = []
order = np.random.default_rng(1)
for step in range(400):
    rows = order.integers(0, 400, 50)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(x[rows]), hours[rows])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print([round(value, 2) for value in losses[::40]])

# %%
predicted = model(x[400:]).numpy()
print("mean squared error", np.mean((predicted - hours[400:]) ** 2), "variance", hours[400:].var())
print("three predictions", predicted[:3, 0], "three batteries", hours[400:403, 0])
