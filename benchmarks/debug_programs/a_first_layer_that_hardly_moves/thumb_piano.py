"""Names the maker's village of a thumb piano from the overtones of its tongues."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(32)
VILLAGES, OVERTONES = 5, 24
shape = rng.normal(size=(VILLAGES, 3))
directions = np.linalg.qr(rng.normal(size=(OVERTONES, 3)))[0].T             # three ways in which overtones vary together


def instruments(count):
    village = rng.integers(VILLAGES, size=count)
    latent = 1.6 * shape[village] + 0.35 * rng.normal(size=(count, 3))
    overtones = latent @ directions + 0.5 * rng.normal(size=(count, OVERTONES))
    return overtones, village


overtones, village = instruments(900)
overtones = (overtones - overtones[:600].mean(axis=0)) / overtones[:600].std(axis=0)
overtones = overtones.astype(np.float32)


class Ear(nn.Module):
    def __init__(self, rng):
        self.layers = [
            nn.Affine(OVERTONES, 3, rng=rng), nn.Affine(3, 24, rng=rng),
            nn.Affine(24, 24, rng=rng), nn.Affine(24, VILLAGES, rng=rng),
        ]

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)


def by_layer(model, ratio=0.1):
    """A learning rate for each layer, in proportion to that of the last one."""
    last = len(model.layers) - 1
    return [{"params": list(layer.parameters()), "lr_scale": ratio ** (last - n)} for n, layer in enumerate(model.layers)]


model = Ear(np.random.default_rng(2))
optimizer = nn.Adam(by_layer(model), lr=0.01)
batches = nn.Batches([overtones[:600], village[:600]], 50, seed=9)
for epoch in range(25):
    for inputs, labels in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(epoch + 1, f"{loss.item():.3f}")

model.eval()
with mg.no_grad():
    guess = model(overtones[600:]).numpy().argmax(axis=1)
print(f"right village for {np.mean(guess == village[600:]):.2f} of the other instruments")
