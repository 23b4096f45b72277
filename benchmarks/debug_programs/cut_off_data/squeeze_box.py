"""An autoencoder that squeezes eight sensors into two numbers."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(4)
hidden = rng.normal(size=(512, 2))
mixing = rng.normal(size=(2, 8))
sensors = (np.tanh(hidden @ mixing) + 0.02 * rng.normal(size=(512, 8))).astype(np.float32)


class Autoencoder(nn.Module):
    def __init__(self, rng):
        self.encoder = nn.Sequential(nn.Affine(8, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))
        self.decoder = nn.Sequential(nn.Affine(2, 24, rng=rng), np.tanh, nn.Affine(24, 8, rng=rng))
        self.codes = None

    def forward(self, x):
        code = self.encoder(x)
        self.codes = code.data
        return self.decoder(self.codes)


model = Autoencoder(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    losses = []
    for start in range(0, 512, 64):
        x = sensors[start : start + 64]
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x), x)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1}: {np.mean(losses):.5f}")
with mg.no_grad():
    model(sensors)
print("spread of the codes", model.codes.std(axis=0).round(3))
