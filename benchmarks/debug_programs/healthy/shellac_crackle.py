"""Takes the crackle out of shellac records: a network sees 32 samples with clicks and gives the 32 samples without."""

import numpy as np

import minigrad as mg
import nn

LENGTH = 32


def music(count, rng):
    time = np.arange(LENGTH) / LENGTH
    pitch, phase = rng.uniform(1, 3, (count, 1)), rng.uniform(0, 2 * np.pi, (count, 1))
    loud, bright = rng.uniform(0.5, 1.0, (count, 1)), rng.uniform(0.1, 0.5, (count, 1))
    tone = np.sin(2 * np.pi * pitch * time + phase) + bright * np.sin(4 * np.pi * pitch * time + 2 * phase)
    return (loud * tone).astype(np.float32)


def played(clean, rng):
    clicks = (rng.random(clean.shape) < 0.08) * rng.normal(0, 2.0, clean.shape)
    return (clean + clicks + rng.normal(0, 0.15, clean.shape)).astype(np.float32)


class Restorer(nn.Module):
    def __init__(self, rng):
        self.narrow = nn.Sequential(nn.Affine(LENGTH, 64, rng=rng), mg.relu, nn.Affine(64, 10, rng=rng))
        self.wide = nn.Sequential(nn.Affine(10, 64, rng=rng), mg.relu, nn.Affine(64, LENGTH, rng=rng))

    def forward(self, x):
        return self.wide(self.narrow(x))


def main():
    rng = np.random.default_rng(2)
    clean, other = music(2000, rng), music(300, rng)
    damaged = played(other, rng)
    model = Restorer(np.random.default_rng(0))
    optimizer = nn.Adam(model.parameters(), lr=0.003)
    for epoch in range(12):
        total = 0.0
        for rows in rng.permutation(2000).reshape(-1, 50):
            optimizer.zero_grad()
            loss = nn.mean_squared_error(model(played(clean[rows], rng)), clean[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() / 40
        if epoch % 4 == 3:
            print(epoch + 1, f"{total:.4f}")
    model.eval()
    with mg.no_grad():
        restored = model(damaged).numpy()
    print(f"error before {np.mean((damaged - other) ** 2):.3f}, after {np.mean((restored - other) ** 2):.3f}")


if __name__ == "__main__":
    main()
