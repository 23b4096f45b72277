import numpy as np
import nn


def payments(rng, n):
    fraud = (rng.random(n) < 0.04).astype(np.int64)
    amount = rng.lognormal(3.2 + 0.7 * fraud, 0.8)
    distance = rng.exponential(8 + 25 * fraud)
    night = rng.random(n) < 0.15 + 0.4 * fraud
    return np.column_stack([np.log(amount), np.log1p(distance), night]).astype(np.float32), fraud


class Detector(nn.Module):
    def __init__(self, rng, hidden=12):
        self.first = nn.Affine(3, hidden, rng=rng)
        self.second = nn.Affine(hidden, 2, rng=rng)

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))


rng = np.random.default_rng(23)
x, y = payments(rng, 3000)
mean, std = x.mean(axis=0), x.std(axis=0)
x = (x - mean) / std

counts = np.bincount(y, minlength=2)
class_weight = (counts / counts.sum()).astype(np.float32)
print("payments:", counts, "weights:", class_weight.round(3))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1], weight=class_weight)


model = Detector(rng)
history = nn.fit(
    model, nn.Batches([x, y], 100, seed=0), loss, nn.AdamW(model.parameters(), lr=0.01), epochs=12, progress=False
)
print("loss of the first and last steps:", round(history.losses[0], 4), round(float(np.mean(history.losses[-30:])), 4))

later, truth = payments(rng, 4000)
alarm = model((later - mean) / std).numpy().argmax(axis=1)
recall = [np.mean(alarm[truth == k] == k) for k in (0, 1)]
print(f"frauds found {recall[1]:.3f}, honest payments passed {recall[0]:.3f}, balanced accuracy {np.mean(recall):.3f}")
