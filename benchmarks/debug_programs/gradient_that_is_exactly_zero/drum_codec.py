"""Store one bar of drum loudness (16 values) in four numbers, each of which takes one of seven levels."""
import numpy as np
import minigrad as mg
import nn

BARS, STEPS = 256, 16


def record(rng):
    t = np.arange(STEPS)
    basis = np.stack([np.cos(2 * np.pi * t * f / STEPS) for f in (1, 2, 4)] + [np.sin(2 * np.pi * t / 8)])
    return (rng.uniform(-1, 1, (BARS, 4)) @ basis).astype(np.float32)


class Codec(nn.Module):
    def __init__(self, rng):
        self.squeeze = nn.Affine(STEPS, 4, rng=rng)
        self.widen = nn.Affine(4, 32, rng=rng)
        self.out = nn.Affine(32, STEPS, rng=rng)

    def forward(self, beat):
        code = np.rint(3 * np.tanh(self.squeeze(beat))) / 3
        return self.out(mg.relu(self.widen(code)))


bars = record(np.random.default_rng(8))
codec = Codec(np.random.default_rng(9))
optimizer = nn.Adam(codec.parameters(), lr=0.01)
order = nn.Batches([bars], 64, seed=2)
for epoch in range(80):
    losses = []
    for (beat,) in order.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(codec(beat), beat)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 9:
        print(f"{epoch + 1:3d} epochs, error {np.mean(losses):.4f}, variance {bars.var():.4f}")
