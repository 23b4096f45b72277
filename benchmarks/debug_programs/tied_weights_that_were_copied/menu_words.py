"""Next words of a menu, from the two words before. The table of words is used at both ends."""

import numpy as np

import nn

WORDS, WIDTH = 24, 16
rng = np.random.default_rng(54)
grammar = rng.integers(0, WORDS, (WORDS, 2))


def menu(n):
    words = [*rng.integers(0, WORDS, 2)]
    while len(words) < n:
        words.append(grammar[words[-2], words[-1] % 2] if rng.random() < 0.9 else rng.integers(0, WORDS))
    return np.array(words)


class MenuModel(nn.Module):
    def __init__(self, rng):
        self.words = nn.Embedding(WORDS, WIDTH, rng=rng, std=0.02)
        self.body = nn.Sequential(nn.Affine(2 * WIDTH, 48, rng=rng), np.tanh, nn.Affine(48, WIDTH, rng=rng))
        self.norm = nn.LayerNorm(WIDTH)
        self.words_out = self.words.weight.numpy().T.copy()

    def forward(self, pairs):
        x = self.words(pairs).reshape(len(pairs), 2 * WIDTH)
        return self.norm(self.body(x)) @ self.words_out


text = menu(3000)
pairs, following = np.stack([text[:-2], text[1:-1]], axis=1), text[2:]
train, test = slice(0, 2500), slice(2500, None)


def loss(model, batch):
    pairs, following = batch
    return nn.cross_entropy(model(pairs), following)


def validate(model):
    return {"loss": loss(model, (pairs[test], following[test])).item()}


model = MenuModel(rng)
batches = nn.Batches([pairs[train], following[train]], 50, seed=7)
history = nn.fit(
    model, batches, loss, nn.Adam(model.parameters(), lr=5e-3), epochs=9, validate=validate, progress=False
)
print("training  ", [round(x, 3) for x in history.losses[::75]])
print("validation", [round(x, 3) for x in history.metric("loss")[::3]])
guess = model(pairs[test]).numpy().argmax(axis=1)
print("right:", np.mean(guess == following[test]), " evenly spread:", round(float(np.log(WORDS)), 3))
