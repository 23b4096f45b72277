"""Digits on a five by seven raster, with dropout; a loop by hand."""
import numpy as np
import nn

rng = np.random.default_rng(29)
GLYPHS = rng.random((10, 35)) < 0.5


def plates(n):
    digit = rng.integers(0, 10, n)
    ink = GLYPHS[digit].astype(float)
    flip = rng.random(ink.shape) < 0.13
    return (np.where(flip, 1 - ink, ink) + rng.normal(0, 0.3, ink.shape)).astype(np.float32), digit


class Reader(nn.Module):
    def __init__(self):
        self.a, self.b, self.c = nn.Affine(35, 64, rng=rng), nn.Affine(64, 64, rng=rng), nn.Affine(64, 10, rng=rng)
        self.drop = nn.Dropout(0.6, rng=rng)

    def forward(self, x):
        h = self.drop(np.maximum(self.a(x), 0))
        h = self.drop(np.maximum(self.b(h), 0))
        return self.c(h)


def accuracy(model, x, digit):
    return float(np.mean(model(x).numpy().argmax(axis=1) == digit))


x, digit = plates(1000)
x_val, digit_val = plates(600)
reader = Reader()
optimizer = nn.AdamW(reader.parameters(), lr=3e-3, weight_decay=0.01)
for epoch in range(15):
    for rows in np.array_split(rng.permutation(1000), 20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(reader(x[rows]), digit[rows])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {loss.item():.3f}  validation {accuracy(reader, x_val, digit_val):.3f}")

print(f"validation accuracy {accuracy(reader, x_val, digit_val):.3f}")
