"""Two towers: a picture's features and a caption's features should meet in one space."""
import argparse

import numpy as np
import nn


class Tower(nn.Module):
    def __init__(self, width, out, rng):
        self.a = nn.Affine(width, 48, rng=rng)
        self.b = nn.Affine(48, out, rng=rng)

    def forward(self, x):
        v = self.b(np.tanh(self.a(x)))
        return v / np.sqrt((v * v).sum(axis=-1, keepdims=True))


class Pairs(nn.Module):
    def __init__(self, rng):
        self.picture, self.caption = Tower(30, 16, rng), Tower(20, 16, rng)

    def forward(self, pictures, captions):
        return self.picture(pictures) @ self.caption(captions).T


def contrast(model, batch):
    scores = model(*batch)
    same = np.arange(scores.shape[0])
    return 0.5 * (nn.cross_entropy(scores, same) + nn.cross_entropy(scores.T, same))


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=12)
    cli.add_argument("--seed", type=int, default=1)
    options = cli.parse_args()
    rng = np.random.default_rng(options.seed)
    to_picture, to_caption = rng.normal(size=(10, 30)), rng.normal(size=(10, 20))
    idea = rng.normal(size=(1400, 10))
    pictures = (np.tanh(idea @ to_picture / 3) + rng.normal(0, 0.35, (1400, 30))).astype(np.float32)
    captions = (np.tanh(idea @ to_caption / 3) + rng.normal(0, 0.35, (1400, 20))).astype(np.float32)

    model = Pairs(rng)
    history = nn.fit(
        model, nn.Batches([pictures[:1200], captions[:1200]], 100, seed=0), contrast,
        nn.Adam(model.parameters(), lr=3e-3), epochs=options.epochs, progress=False,
    )
    scores = model(pictures[1200:], captions[1200:]).numpy()
    found = scores.argmax(axis=1) == np.arange(200)
    belief = nn.functional.softmax(scores, axis=1)[np.arange(200), np.arange(200)]
    print("loss", round(history.losses[0], 3), "->", round(history.losses[-1], 3))
    print("captions found among 200:", round(float(found.mean()), 3), "with probability", round(float(belief.mean()), 3))


if __name__ == "__main__":
    main()
