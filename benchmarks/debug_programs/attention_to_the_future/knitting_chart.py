# Learn rows of a knitting chart stitch by stitch, then knit one: each stitch follows from those before it.
import numpy as np
import nn

STITCHES = ["knit", "purl", "yarn over", "k2tog", "slip"]
V, LENGTH, D = len(STITCHES), 12, 24
rng = np.random.default_rng(21)

follow = rng.dirichlet([0.4] * V, (V, V))


def knit_rows(n):
    rows = [rng.integers(0, V, n), rng.integers(0, V, n)]
    for _ in range(LENGTH - 1):
        chance = follow[rows[-2], rows[-1]].cumsum(axis=1)
        rows.append((rng.random((n, 1)) > chance).sum(axis=1).clip(0, V - 1))
    return np.stack(rows, axis=1)


visible = np.tril(np.ones((LENGTH, LENGTH), bool), k=1)


class Pattern(nn.Module):
    def __init__(self, rng):
        self.stitch = nn.Embedding(V, D, rng=rng)
        self.place = nn.Parameter(rng.normal(0, 0.5, (LENGTH, D)).astype(np.float32))
        self.layers = [nn.TransformerEncoderLayer(D, 2, 48, rng=rng) for _ in range(2)]
        self.norm, self.out = nn.LayerNorm(D), nn.Affine(D, V, rng=rng)

    def forward(self, row):
        n = row.shape[1]
        x = self.stitch(row) + self.place[:n]
        for layer in self.layers:
            x = layer(x, mask=visible[:n, :n])
        return self.out(self.norm(x))


model = Pattern(rng)
opt = nn.Adam(model.parameters(), lr=0.005)
for step in range(150):
    row = knit_rows(24)
    opt.zero_grad()
    loss = nn.cross_entropy(model(row[:, :-1]), row[:, 1:])
    loss.backward()
    opt.step()
    if step % 30 == 29:
        print(step + 1, f"{loss.item():.3f}")

model.eval()
row = knit_rows(300)
known = [model(row[:, :k]).numpy()[:, -1] for k in range(2, LENGTH)]
surprise = np.mean([nn.cross_entropy(z, row[:, k]).item() for k, z in enumerate(known, start=2)])
chart = np.mean([-np.log(follow[row[:, k - 2], row[:, k - 1], row[:, k]]).mean() for k in range(2, LENGTH)])
print(f"one stitch ahead: {surprise:.3f}, the chart itself: {chart:.3f}")
