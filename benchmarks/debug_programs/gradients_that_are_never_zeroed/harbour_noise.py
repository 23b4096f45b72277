"""Ships or birds? Classify short sounds by their spectrum."""

import numpy as np

import nn

rng = np.random.default_rng(59)
t = np.linspace(0, 1, 64, endpoint=False)
ship = rng.integers(0, 2, 400)
pitch = np.where(ship == 1, rng.uniform(3, 12, 400), rng.uniform(12, 24, 400))
sound = np.sin(2 * np.pi * pitch[:, None] * t + rng.uniform(0, 6, (400, 1))) + rng.normal(0, 0.4, (400, 64))
spectrum = np.log(np.abs(np.fft.rfft(sound, axis=1)) + 0.1).astype(np.float32)


class Ear(nn.Module):
    def __init__(self, bands, *, rng):
        self.norm = nn.LayerNorm(bands)
        self.mix = nn.Affine(bands, 16, rng=rng)
        self.decide = nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        return self.decide(np.tanh(self.mix(self.norm(x))))[:, 0]


def batches(order, size):
    for start in range(0, len(order), size):
        yield order[start : start + size]


ear = Ear(spectrum.shape[1], rng=np.random.default_rng(0))
optimizer = nn.SGD(ear.parameters(), lr=0.3)
order = np.random.default_rng(1)
for epoch in range(40):
    total = 0.0
    for rows in batches(order.permutation(300), 30):
        loss = nn.binary_cross_entropy_with_logits(ear(spectrum[rows]), ship[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  {total:.3f}")

heard = ear(spectrum[300:]).numpy()
print("right:", np.mean((heard > 0) == ship[300:]))
print("loss:", round(nn.binary_cross_entropy_with_logits(heard, ship[300:]).item(), 3))
