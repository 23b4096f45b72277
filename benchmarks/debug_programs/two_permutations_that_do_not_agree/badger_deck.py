"""Badger, fox or hare? Tracks in snow, six measures each."""
import numpy as np
import nn


def tracks(rng, n):
    animal = np.repeat(np.arange(3), n // 3)
    centre = np.array([[5, 4, 1, 0, 2, 1], [4, 6, 0, 1, 1, 2], [3, 3, 2, 2, 0, 0]])
    return centre[animal] + rng.normal(0, 1.0, (len(animal), 6)), animal


def shuffled(rng, *arrays):
    return [a[rng.permutation(len(a))] for a in arrays]


def train(seed=0, epochs=40):
    rng = np.random.default_rng(seed)
    x, animal = shuffled(rng, *tracks(rng, 900))
    x_new, animal_new = tracks(rng, 300)
    shift, stretch = x.mean(axis=0), x.std(axis=0)
    x, x_new = ((a - shift) / stretch for a in (x, x_new))
    net = nn.Sequential(nn.Affine(6, 16, rng=rng), np.tanh, nn.Affine(16, 3, rng=rng))
    steps = nn.AdamW(net.parameters(), lr=0.01, weight_decay=0.01)
    for epoch in range(epochs):
        total = 0.0
        for start in range(0, len(x), 45):
            part = slice(start, start + 45)
            loss = nn.cross_entropy(net(x[part].astype(np.float32)), animal[part])
            steps.zero_grad()
            loss.backward()
            steps.step()
            total += loss.item()
        if (epoch + 1) % 10 == 0:
            right = np.mean(net(x_new.astype(np.float32)).numpy().argmax(axis=1) == animal_new)
            print(f"epoch {epoch + 1:2d} loss {total / 20:.3f} new tracks {right:.3f}")


train()
