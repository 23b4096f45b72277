"""Survey of a bog: from the mosses on a square metre, say which of six bands of wetness it is in."""
import numpy as np
import minigrad as mg
import nn

F = nn.functional
BANDS = 6


class Surveyor(nn.Module):
    """Two hidden layers; half of the units before the answer are left out at random."""

    def __init__(self, mosses, width, rng):
        self.rng = rng
        self.low = nn.Affine(mosses, width, rng=rng)
        self.mid = nn.Affine(width, width, rng=rng)
        self.top = nn.Affine(width, BANDS, rng=rng)

    def forward(self, cover):
        h = mg.relu(self.low(cover))
        h = mg.relu(self.mid(h))
        h = F.dropout(h, 0.5, rng=self.rng)
        return self.top(h)


def field(count, rng):
    wet = rng.uniform(0, 1, count)
    liked = np.linspace(0, 1, 15)
    cover = np.exp(-(((wet[:, None] - liked) / 0.25) ** 2)) + rng.normal(0, 0.12, (count, 15))
    return cover.astype(np.float32), (BANDS * wet).astype(int)


rng = np.random.default_rng(44)
cover, wet = field(400, rng)
new_cover, new_wet = field(200, rng)
model = Surveyor(15, 16, rng)
optimizer = nn.AdamW(model.parameters(), lr=0.004)
squares = nn.Batches([cover, wet], 40, seed=9)

for epoch in range(60):
    model.train()
    for x, y in squares.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    if epoch % 15 == 14:
        model.eval()
        with mg.no_grad():
            band = model(new_cover).numpy().argmax(axis=1)
        print(f"epoch {epoch + 1}: training loss {loss.item():.3f}, right on new squares {np.mean(band == new_wet):.3f}")
