"""Fill in the missing word: a masked language model with a small encoder."""

import numpy as np

import nn

MASK = 0
rng = np.random.default_rng(161)
next_word = 1 + rng.permutation(19)
sentences = np.zeros((400, 8), np.int64)
sentences[:, 0] = rng.integers(1, 20, 400)
for t in range(1, 8):
    sentences[:, t] = next_word[sentences[:, t - 1] - 1]
held_out = sentences[:50].copy()
held_out_masked = held_out.copy()
held_out_masked[:, 3] = MASK


class Masked(nn.Module):
    def __init__(self, rng):
        self.embedding = nn.Embedding(20, 32, rng=rng, std=0.5)
        self.positions = nn.LearnedPositions(8, 32, rng=rng, std=0.5)
        self.layer = nn.TransformerEncoderLayer(32, 2, 64, rng=rng)
        self.output = nn.Affine(32, 20, rng=rng)

    def forward(self, ids):
        return self.output(self.layer(self.positions(self.embedding(ids))))


model = Masked(rng)
optimizer = nn.Adam(model.parameters(), lr=0.003)
for epoch in range(25):
    for start in range(0, 400, 40):
        inputs = sentences[start : start + 40]
        hidden = rng.random(inputs.shape) < 0.15
        words = np.where(hidden, inputs, -1)
        inputs[hidden] = MASK
        loss = nn.cross_entropy(model(inputs), words, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        guess = model(held_out_masked).numpy()[:, 3].argmax(axis=1)
        print(f"epoch {epoch}: loss {loss.item():.4f}, filled in correctly {(guess == held_out[:, 3]).mean():.2f}")
