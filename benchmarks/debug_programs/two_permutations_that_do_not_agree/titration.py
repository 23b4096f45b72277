# %% [markdown]
# # A titration curve
# 300 measurements of pH against the volume of base, and a small network through them.

# %%
import numpy as np
import nn

rng = np.random.default_rng(2)


def curve(v):
    return 3.0 + 0.03 * v + 6.5 / (1 + np.exp(-(v - 25.0) / 1.5))


volume = rng.uniform(0, 50, 300)
ph = curve(volume) + rng.normal(0, 0.08, 300)

# %%
# From small to large, so that the line in the plot below is drawn in order.
volume.sort()
x = ((volume - 25) / 15).astype(np.float32)[:, None]
y = ((ph - 7) / 3).astype(np.float32)[:, None]
print(x.shape, y.shape, x[:3, 0].round(2))

# %%
net = nn.Sequential(nn.Affine(1, 24, rng=rng), np.tanh, nn.Affine(24, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))
batches = nn.Batches([x, y], 50, seed=1)
history = nn.fit(
    net, batches, lambda net, b: nn.mean_squared_error(net(b[0]), b[1]), nn.Adam(net.parameters(), lr=0.01),
    epochs=80, progress=False,
)
print("loss", round(history.losses[0], 4), "->", round(history.losses[-1], 4))

# %%
grid = np.linspace(1, 49, 97)
fitted = net(((grid - 25) / 15).astype(np.float32)[:, None]).numpy()[:, 0] * 3 + 7
print("RMSE against the curve, in pH:", round(float(np.sqrt(np.mean((fitted - curve(grid)) ** 2))), 3))
