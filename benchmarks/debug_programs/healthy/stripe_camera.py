"""Vertical, horizontal or diagonal stripes on noisy 8 by 8 pictures: a convolution, dropout and a loop by hand."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(207)
row, column = np.mgrid[0:8, 0:8]
PATTERNS = [lambda s: (column + s) % 4 < 2, lambda s: (row + s) % 4 < 2, lambda s: (row + column + s) % 4 < 2]


def photograph(n):
    kind = rng.integers(0, 3, n)
    clean = np.stack([PATTERNS[k](rng.integers(4)) for k in kind]).astype(float) - 0.5
    return (clean + 0.6 * rng.normal(size=clean.shape)).astype(np.float32)[:, None], kind


class Camera(nn.Module):
    def __init__(self, rng):
        self.conv = nn.Conv2d(1, 8, 3, rng=rng, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.3, rng=rng)
        self.fc = nn.Affine(8 * 4 * 4, 3, rng=rng)

    def forward(self, picture):
        x = self.pool(mg.relu(self.conv(picture)))
        return self.fc(self.drop(x.reshape(len(picture), -1)))


train_x, train_y = photograph(800)
test_x, test_y = photograph(200)
camera = Camera(np.random.default_rng(3))
optimizer = nn.AdamW(camera.parameters(), lr=0.005, weight_decay=0.01)
batches = nn.Batches([train_x, train_y], 40, seed=5)
for epoch in range(8):
    camera.train()
    losses = []
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(camera(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    camera.eval()
    with mg.no_grad():
        right = camera(test_x).numpy().argmax(axis=1) == test_y
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}  test accuracy {right.mean():.3f}")
