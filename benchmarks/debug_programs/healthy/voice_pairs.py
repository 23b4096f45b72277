"""Two recordings of one speaker shall be near each other, those of different speakers apart (InfoNCE)."""

import numpy as np

import minigrad as mg
import nn

TRAITS, BANDS, TEMPERATURE = 6, 24, 0.1


def speak(traits, ways, rng):
    room = rng.normal(scale=1.5, size=(len(traits), 4))
    heard = np.tanh(traits @ ways[0]) + room @ ways[1] + rng.normal(scale=0.1, size=(len(traits), BANDS))
    return heard.astype(np.float32)


class Voice(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(nn.Affine(BANDS, 64, rng=rng), mg.relu, nn.Affine(64, 16, rng=rng))

    def forward(self, x):
        v = self.layers(x)
        return v / np.sqrt((v**2).sum(axis=1, keepdims=True) + 1e-8)


def loss(model, batch):
    first, second = batch
    logits = model(first) @ model(second).T / TEMPERATURE
    own = np.arange(len(first))
    return (nn.cross_entropy(logits, own) + nn.cross_entropy(logits.T, own)) / 2


def finds(model, a, b):
    with mg.no_grad():
        return np.mean((model(a) @ model(b).T).numpy().argmax(axis=1) == np.arange(len(a)))


def main():
    rng = np.random.default_rng(9)
    ways = rng.normal(scale=0.6, size=(TRAITS, BANDS)), rng.normal(scale=0.6, size=(4, BANDS))
    people, others = rng.normal(size=(1500, TRAITS)), rng.normal(size=(150, TRAITS))
    pairs = [speak(people, ways, rng), speak(people, ways, rng)]
    new = [speak(others, ways, rng), speak(others, ways, rng)]
    model = Voice(rng)
    print(f"before: {finds(model, *new):.2f} of the new speakers are found again")
    batches = nn.Batches(pairs, 100, seed=4)
    optimizer = nn.Adam(model.parameters(), lr=0.003)
    history = nn.fit(model, batches, loss, optimizer, epochs=30, progress=False)
    for epoch in (0, 9, 19, 29):
        print(f"epoch {epoch + 1}: loss {np.mean(history.losses[15 * epoch : 15 * epoch + 15]):.3f}")
    print(f"after: {finds(model, *new):.2f}")


if __name__ == "__main__":
    main()
