"""Tag the words of kitchen notes: amount, unit, food, verb, other. Notes have 3 to 7 words, a card has 60 places."""

import numpy as np

import minigrad as mg
import nn

TAGS = ["blank", "amount", "unit", "food", "verb", "other"]
CARD, WORDS = 60, 120


def write_notes(count, home, rng):
    words, tags = np.zeros((count, CARD), np.int64), np.zeros((count, CARD), np.int64)
    for i, length in enumerate(rng.integers(3, 8, size=count)):
        words[i, :length] = rng.integers(1, WORDS, size=length)
        tags[i, :length] = home[words[i, :length]]
        after_amount = np.flatnonzero(tags[i, : length - 1] == 1) + 1
        tags[i, after_amount] = 2
    return words, tags


class Tagger(nn.Module):
    def __init__(self, rng):
        self.words = nn.Embedding(WORDS, 24, rng=rng, std=0.3)
        self.around = nn.Conv1d(24, 32, 3, padding=1, rng=rng)
        self.output = nn.Affine(32, len(TAGS), rng=rng)

    def forward(self, ids):
        x = self.around(self.words(ids).swapaxes(1, 2)).swapaxes(1, 2)
        return self.output(np.tanh(x))


def main():
    rng = np.random.default_rng(40)
    home = rng.integers(1, len(TAGS), size=WORDS)
    words, tags = write_notes(800, home, rng)
    model = Tagger(rng)
    optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches = nn.Batches([words, tags], 40, seed=3)
    for epoch in range(12):
        losses = []
        for ids, wanted in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(ids), wanted)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: {np.mean(losses):.4f}")
    new_words, new_tags = write_notes(300, home, rng)
    with mg.no_grad():
        found = model(new_words).numpy().argmax(axis=-1)
    written = new_words > 0
    print(f"words of new notes with the right tag: {np.mean(found[written] == new_tags[written]):.2f}")


if __name__ == "__main__":
    main()
