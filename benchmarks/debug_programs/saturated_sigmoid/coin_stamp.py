"""Read the stamp of a coin from an 8 x 8 photograph with grey values from 0 to 255."""
import numpy as np
import nn
from minigrad import sigmoid

rng = np.random.default_rng(44)
STAMPS = 6
masters = rng.random((STAMPS, 8, 8)) < 0.5


def photographs(count):
    stamp = rng.integers(STAMPS, size=count)
    light = rng.uniform(0.6, 1.0, (count, 1, 1))
    worn = np.where(rng.random((count, 8, 8)) < 0.15, ~masters[stamp], masters[stamp])
    grey = 255 * light * (0.25 + 0.65 * worn) + rng.normal(0, 12, worn.shape)
    return grey.clip(0, 255).astype(np.uint8), stamp


def as_rows(pictures):
    return pictures.reshape(len(pictures), -1).astype(np.float32)


class Reader(nn.Module):
    def __init__(self, hidden):
        self.first = nn.Affine(64, hidden, rng=rng)
        self.second = nn.Affine(hidden, hidden, rng=rng)
        self.third = nn.Affine(hidden, STAMPS, rng=rng)

    def forward(self, rows):
        h = sigmoid(self.first(rows))
        h = sigmoid(self.second(h))
        return self.third(h)


def loss(model, batch):
    rows, stamp = batch
    return nn.cross_entropy(model(rows), stamp)


pictures, stamp = photographs(1200)
others, other_stamp = photographs(300)
reader = Reader(20)
history = nn.fit(
    reader, nn.Batches([as_rows(pictures), stamp], 40, seed=3), loss,
    nn.SGD(reader.parameters(), lr=0.3, momentum=0.9), epochs=14, progress=False,
)
right = (reader(as_rows(others)).numpy().argmax(axis=1) == other_stamp).mean()
print(f"loss {np.mean(history.losses[:10]):.3f} -> {np.mean(history.losses[-30:]):.4f}, other coins {right:.3f}")
