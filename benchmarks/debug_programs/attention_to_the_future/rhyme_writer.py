"""A small language model of counting rhymes. It learns the next letter and then continues a line."""

import numpy as np

import nn
from minigrad import no_grad

rng = np.random.default_rng(47)
LINES = ["one two three four five;", "two four six eight ten;;", "five four three two one;"]
LETTERS = sorted(set("".join(LINES)))
ids = np.array([[LETTERS.index(c) for c in line] for line in LINES])


class Writer(nn.Module):
    def __init__(self, letters, length, width, rng):
        self.embedding = nn.Embedding(letters, width, std=0.3, rng=rng)
        self.positions = nn.LearnedPositions(length, width, std=0.3, rng=rng)
        self.layers = [nn.TransformerEncoderLayer(width, 2, 2 * width, norm="pre", rng=rng) for _ in range(2)]
        self.output = nn.Affine(width, letters, rng=rng)

    def forward(self, ids):
        x = self.positions(self.embedding(ids))
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


model = Writer(len(LETTERS), 24, 32, rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
model.train()
for step in range(150):
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step + 1}: loss {loss.item():.4f}")

model.eval()
right = 0
with no_grad():
    for line in ids:
        text = list(line[:6])
        while len(text) < len(line):
            text.append(int(model(np.array([text])).numpy()[0, -1].argmax()))
        print("".join(LETTERS[i] for i in text))
        right += sum(a == b for a, b in zip(text[6:], line[6:]))
print(f"letters right: {right} of {ids[:, 6:].size}")
