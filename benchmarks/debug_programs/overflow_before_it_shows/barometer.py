# %%
import numpy as np
import nn
from minigrad import Tensor

rng = np.random.default_rng(21)

# %% five sensors per station: pressure in hPa, humidity in percent, three temperatures in degrees
N = 512
pressure = rng.normal(1013, 9, N)
humidity = rng.uniform(20, 95, N)
temps = rng.normal(15, 7, (N, 3))
table = np.column_stack([pressure, humidity, temps]).astype(np.float16)
rain = ((humidity - 57) / 22 - (pressure - 1013) / 9 + 0.2 * rng.normal(size=N) > 0).astype(np.int64)

# %% every row gets the same length before the network sees it
def unit_rows(t):
    return t / np.sqrt((t * t).mean(axis=1, keepdims=True) + t.dtype.type(1e-3))

rows = unit_rows(table)
rows = rows.astype(np.float32)
rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-5)

# %%
model = nn.Sequential(nn.Affine(5, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))
adam = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    adam.zero_grad()
    loss = nn.cross_entropy(model(rows), rain)
    loss.backward()
    adam.step()
    if epoch % 30 == 0:
        print(epoch, loss.item())

# %%
print("accuracy", (model(rows).numpy().argmax(1) == rain).mean())
