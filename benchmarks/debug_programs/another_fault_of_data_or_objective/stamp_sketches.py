"""A variational autoencoder draws small stamps: a cross somewhere on a sheet of eight by eight."""

import numpy as np

import minigrad as mg
import nn

SIDE, LATENT = 8, 3
PIXELS = SIDE * SIDE


def stamps(count, rng):
    y, x = np.mgrid[:SIDE, :SIDE]
    cy, cx = rng.uniform(1.5, SIDE - 2.5, (2, count, 1, 1))
    size = rng.uniform(0.6, 1.4, (count, 1, 1))
    ink = np.exp(-((y - cy) ** 2) / size) + np.exp(-((x - cx) ** 2) / size)
    return np.minimum(ink, 1.0).reshape(count, PIXELS).astype(np.float32)


class Sketcher(nn.Module):
    def __init__(self, rng):
        self.rng = rng
        self.look = nn.Affine(PIXELS, 64, rng=rng)
        self.mean, self.log_var = nn.Affine(64, LATENT, rng=rng), nn.Affine(64, LATENT, rng=rng)
        self.think, self.draw = nn.Affine(LATENT, 64, rng=rng), nn.Affine(64, PIXELS, rng=rng)

    def encode(self, x):
        seen = np.tanh(self.look(x))
        return self.mean(seen), self.log_var(seen)

    def decode(self, z):
        return self.draw(np.tanh(self.think(z)))

    def forward(self, x):
        mean, log_var = self.encode(x)
        noise = self.rng.normal(size=mean.shape).astype(np.float32)
        return self.decode(mean + np.exp(log_var / 2) * noise), mean, log_var


def loss(model, batch):
    (x,) = batch
    drawn, mean, log_var = model(x)
    likeness = ((drawn - x) ** 2).mean()
    prior = 0.5 * (mean * mean + np.exp(log_var) - log_var - 1).sum(axis=1).mean()
    return likeness + 0.1 * prior


rng = np.random.default_rng(131)
sheet = stamps(1200, rng)
model = Sketcher(rng)
history = nn.fit(
    model, nn.Batches([sheet], 40, seed=5), loss, nn.Adam(model.parameters(), lr=0.003), epochs=40, progress=False
)
print(f"loss: {history.losses[0]:.3f} -> {history.losses[-1]:.3f}")
new = stamps(300, rng)
with mg.no_grad():
    mean, log_var = model.encode(new)
    again = model.decode(mean).numpy()
print(f"spread of the codes: {mean.numpy().std(axis=0).round(3)}")
print(f"stamp to its sketch: {np.mean((again - new) ** 2):.4f}, stamp to the mean stamp: {new.var(axis=0).mean():.4f}")
