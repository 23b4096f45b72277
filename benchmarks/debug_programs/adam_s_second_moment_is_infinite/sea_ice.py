"""Concentration of sea ice from five channels of a satellite, on a coarse grid."""
import numpy as np
import nn

rng = np.random.default_rng(37)
CELLS = 2000


def swath(cells):
    ice = rng.beta(0.6, 0.6, cells)
    emissivity = np.array([0.55, 0.62, 0.70, 0.76, 0.80])
    sea = np.array([110.0, 130.0, 160.0, 185.0, 210.0])
    brightness = sea + ice[:, None] * (255 * emissivity - sea + 60) + rng.normal(0, 4.0, (cells, 5))
    return brightness, ice


brightness, ice = swath(CELLS)
brightness[rng.choice(CELLS, 3, replace=False)] = 9.96921e36

scaled = ((brightness - 190.0) / 45.0).astype(np.float32)
target = ice.astype(np.float32)[:, None]

model = nn.Affine(5, 1, rng=rng)
batches = nn.Batches([scaled, target], 50, seed=4)


def loss(model, batch):
    channels, share = batch
    return nn.huber_loss(model(channels), share, delta=0.2)


history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=12, progress=False)
per_epoch = np.array(history.losses).reshape(12, -1)
print("median loss of each epoch:", *np.median(per_epoch, axis=1).round(4))

fresh, truth = swath(600)
said = model(((fresh - 190.0) / 45.0).astype(np.float32)).numpy()[:, 0]
print(f"error in a fresh swath: {np.abs(said - truth).mean():.4f} (of a constant: {np.abs(truth - 0.5).mean():.4f})")
