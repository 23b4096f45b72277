"""A thrush strings syllables together. A network learns which may follow which, and sings."""

import numpy as np

import minigrad as mg
import nn

SYLLABLES, WIDTH, TEMPERATURE = 40, 24, 0.05


def unit(v):
    return v / np.sqrt((v * v).sum(axis=-1, keepdims=True) + 1e-6)


class Song(nn.Module):
    """The last two syllables point in a direction; the syllables that lie there come next."""

    def __init__(self, rng):
        self.syllables = nn.Embedding(SYLLABLES, WIDTH, rng=rng)
        self.mix = nn.Affine(2 * WIDTH, 64, rng=rng)
        self.point = nn.Affine(64, WIDTH, rng=rng)

    def forward(self, pair):
        heard = self.syllables(pair).reshape(len(pair), 2 * WIDTH)
        direction = self.point(mg.gelu(self.mix(heard)))
        return unit(direction) @ unit(self.syllables.weight).T * TEMPERATURE


def sing(after, length, rng):
    song = list(rng.integers(SYLLABLES, size=2))
    while len(song) < length:
        song.append(int(rng.choice(after[song[-1]])))
    return np.array(song)


def main():
    rng = np.random.default_rng(61)
    after = np.stack([rng.choice(SYLLABLES, 3, replace=False) for _ in range(SYLLABLES)])
    recording = sing(after, 4000, rng)
    pairs, following = np.stack([recording[:-2], recording[1:-1]], axis=1), recording[2:]
    model = Song(rng)
    optimizer = nn.Adam(model.parameters(), lr=0.003)
    batches = nn.Batches([pairs, following], 64, seed=4)
    for epoch in range(12):
        losses = []
        for heard, wanted in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(heard), wanted)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")

    song = [0, int(after[0][0])]
    with mg.no_grad():
        for _ in range(400):
            scores = model(np.array([song[-2:]])).numpy()[0].astype(float)
            chance = np.exp(scores - scores.max())
            song.append(int(rng.choice(SYLLABLES, p=chance / chance.sum())))
    known = [b in after[a] for a, b in zip(song[1:-1], song[2:], strict=True)]
    print(f"steps of its own song that a thrush would make: {np.mean(known):.2f}")


if __name__ == "__main__":
    main()
