"""Squeeze 12 sensor channels into 2 numbers and back, with whitened codes."""
import numpy as np
import nn

rng = np.random.default_rng(71)
hidden_cause = rng.normal(size=(600, 2))
channels = np.tanh(hidden_cause @ rng.normal(size=(2, 12))) + 0.02 * rng.normal(size=(600, 12))
channels = channels.astype(np.float32)


class Squeeze(nn.Module):
    def __init__(self, rng):
        self.enc1, self.enc2 = nn.Affine(12, 24, rng=rng), nn.Affine(24, 2, rng=rng)
        self.dec1, self.dec2 = nn.Affine(2, 24, rng=rng), nn.Affine(24, 12, rng=rng)

    def encode(self, x):
        return self.enc2(np.tanh(self.enc1(x)))

    def decode(self, code):
        return self.dec2(np.tanh(self.dec1(code)))

    def forward(self, x):
        code = self.encode(x).numpy()
        code = (code - code.mean(axis=0)) / (code.std(axis=0) + 1e-5)
        return self.decode(code)


def reconstruction(model, batch):
    (x,) = batch
    return nn.mean_squared_error(model(x), x)


model = Squeeze(np.random.default_rng(4))
batches = nn.Batches([channels[:500]], 50, seed=2)
history = nn.fit(model, batches, reconstruction, nn.Adam(model.parameters(), lr=0.005), epochs=60, progress=False)
print("variance of the channels", channels.var().round(3))
for epoch in (0, 10, 20, 40, 59):
    print("epoch", epoch, "error", np.mean(history.losses[epoch * 10:(epoch + 1) * 10]).round(4))
print("unseen", round(reconstruction(model, (channels[500:],)).item(), 4))
