"""Kinds of clouds on small pictures: streaks, heaps, or a veil. A convolutional network with batch norm and dropout."""

import numpy as np

import minigrad as mg
import nn

SIDE = 12


def sky(count, rng):
    kind = rng.integers(3, size=count)
    y, x = np.mgrid[:SIDE, :SIDE]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    tilt = rng.uniform(-0.3, 0.3, (count, 1, 1))
    streaks = np.sin(1.2 * y + tilt * x + phase)
    heaps = np.sin(1.2 * y + phase) * np.sin(1.2 * x + 3 * phase) * 1.6
    veil = np.sin(0.25 * (x + y) + phase)
    pictures = np.choose(kind[:, None, None], [streaks, heaps, veil]) + rng.normal(scale=0.6, size=(count, SIDE, SIDE))
    return pictures[:, None].astype(np.float32), kind


def make_net(rng):
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, rng=rng),
        nn.BatchNorm(8),
        mg.relu,
        nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 3, padding=1, rng=rng),
        nn.BatchNorm(12),
        mg.relu,
        nn.GlobalAvgPool(),
        nn.Dropout(0.2, rng=rng),
        nn.Affine(12, 3, rng=rng),
    )


def evaluate(net, pictures, kind):
    net.eval()
    with mg.no_grad():
        found = np.concatenate([net(part).numpy().argmax(axis=1) for part in np.array_split(pictures, 4)])
    net.train()
    return np.mean(found == kind)


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    pictures, kind = sky(900, rng)
    new_pictures, new_kind = sky(300, rng)
    net = make_net(rng)
    optimizer = nn.AdamW(net.parameters(), lr=0.01)
    batches = nn.Batches([pictures, kind], 30, seed=2)
    for epoch in range(8):
        losses = []
        for inputs, labels in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(net(inputs), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, new {evaluate(net, new_pictures, new_kind):.3f}")
