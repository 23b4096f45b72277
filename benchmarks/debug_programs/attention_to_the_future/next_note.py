"""Predict the next note of a melody with a small Transformer."""

import numpy as np

import nn


class MelodyModel(nn.Module):
    def __init__(self, notes, length, width, rng):
        self.embedding = nn.Embedding(notes, width, rng=rng, std=0.3)
        self.positions = nn.PositionalEncoding(width)
        self.layers = [nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng)]
        self.norm = nn.LayerNorm(width)
        self.output = nn.TiedOutput(self.embedding)

    def forward(self, notes):
        x = self.positions(self.embedding(notes))
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def melodies(n, length, rng):
    steps = rng.choice([-2, -1, 1, 2], size=(n, length), p=[0.1, 0.4, 0.4, 0.1])
    return np.cumsum(steps, axis=1) % 14


rng = np.random.default_rng(90)
train, test = melodies(300, 13, rng), melodies(100, 13, rng)
model = MelodyModel(14, 12, 24, rng)
optimizer = nn.Adam(model.parameters(), lr=0.003)
batches = nn.Batches([train], 30, seed=4)
for epoch in range(16):
    for (notes,) in batches.epoch(epoch):
        loss = nn.cross_entropy(model(notes[:, :-1]), notes[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        prefix = test[:, :9]
        next_note = nn.cross_entropy(model(prefix).numpy()[:, -1], test[:, 9]).item()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, next note {next_note:.4f}")
