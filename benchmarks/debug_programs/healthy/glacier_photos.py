"""Is a photo of ice, snow, rock or water? A slow start, and an update from six small portions of the data."""

import minigrad as mg
import nn
import numpy as np

PORTION, PORTIONS, UPDATES = 16, 6, 240
rng = np.random.default_rng(81)
textures = rng.normal(size=(4, 30))


def photos(n):
    kind = rng.integers(4, size=n)
    light = rng.uniform(0.3, 1.2, (n, 1))
    return (light * textures[kind] + rng.normal(0, 0.9, (n, 30))).astype(np.float32), kind


def rate(update):
    warm = 60
    if update < warm:
        return 0.15 * (update + 1) / warm
    return 0.15 * (UPDATES - update) / (UPDATES - warm)


x, kind = photos(3000)
x_new, kind_new = photos(600)
model = nn.Sequential(
    nn.LayerNorm(30),
    nn.Affine(30, 48, rng=rng),
    mg.gelu,
    nn.Affine(48, 48, rng=rng),
    mg.gelu,
    nn.Affine(48, 4, rng=rng),
)
optimizer = nn.SGD(model.parameters(), lr=0.0, momentum=0.9, weight_decay=1e-4)
for update in range(UPDATES):
    optimizer.lr = rate(update)
    optimizer.zero_grad()
    total = 0.0
    for _ in range(PORTIONS):
        rows = rng.integers(len(x), size=PORTION)
        loss = nn.cross_entropy(model(x[rows]), kind[rows]) / PORTIONS
        loss.backward()
        total += loss.item()
    nn.clip_grad_norm(model.parameters(), 2.0)
    optimizer.step()
    if update % 40 == 0:
        print(f"update {update:3d}  rate {optimizer.lr:.4f}  loss {total:.3f}")

model.eval()
with mg.no_grad():
    guess = model(x_new).numpy().argmax(axis=1)
print(f"right {np.mean(guess == kind_new):.3f}")
