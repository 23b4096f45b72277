# Is the loaf done? Oven temperature (K), pressure (hPa), colour (0-255) and time (s), as the sensors give them.
import numpy as np
import nn

rng = np.random.default_rng(16)
n = 420
raw = np.column_stack([
    rng.normal(490, 12, n),
    rng.normal(1013, 8, n),
    rng.normal(140, 30, n),
    rng.normal(2400, 300, n),
]).astype(np.float32)
z = (raw - raw.mean(axis=0)) / raw.std(axis=0)
done = (z[:, 0] + z[:, 3] - 0.7 * z[:, 2] * z[:, 0] > 0).astype(np.int64)

model = nn.Sequential(
    nn.BatchNorm(4),
    nn.Affine(4, 24, rng=rng),
    np.tanh,
    nn.BatchNorm(24),
    nn.Affine(24, 2, rng=rng),
)
optimizer = nn.SGD(model.parameters(), lr=0.2, momentum=0.8)
loaves = nn.Batches([raw[:300], done[:300]], 60, seed=4)


def share_right(rows):
    model.eval()
    return np.mean(model(raw[rows]).numpy().argmax(axis=1) == done[rows])


model.train()
for epoch in range(15):
    total = []
    for sensors, label in loaves.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(sensors), label)
        loss.backward()
        optimizer.step()
        total.append(loss.item())
    print(f"{epoch:2d}  loss {np.mean(total):.3f}  right {share_right(slice(300, None)):.3f}")
