"""Learn melodies note by note: the next note is the last one plus a step that depends on the last two."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(37)
NOTES, LENGTH, WIDTH = 9, 10, 24


def melodies(count):
    notes = rng.integers(0, NOTES, (count, LENGTH + 1))
    for t in range(2, LENGTH + 1):
        follow = (notes[:, t - 1] + notes[:, t - 2] + 1) % NOTES
        notes[:, t] = np.where(rng.random(count) < 0.85, follow, notes[:, t])
    return notes


class Composer(nn.Module):
    def __init__(self, rng):
        self.notes = nn.Embedding(NOTES, WIDTH, std=0.5, rng=rng)
        self.places = nn.LearnedPositions(LENGTH, WIDTH, std=0.3, rng=rng)
        self.layers = [nn.TransformerEncoderLayer(WIDTH, 2, 64, rng=rng) for _ in range(2)]
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Affine(WIDTH, NOTES, rng=rng)

    def forward(self, ids):
        x = self.places(self.notes(ids))
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


model = Composer(np.random.default_rng(0))
optimizer = nn.Adam(model.parameters(), lr=0.005)
for step in range(250):
    batch = melodies(32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(batch[:, :-1]), batch[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"{step:3d} {loss.item():.3f}")

# continue unseen melodies: only the beginning is known
fresh = melodies(300)
right = []
with mg.no_grad():
    for t in range(3, LENGTH):
        guess = model(fresh[:, :t]).numpy()[:, -1].argmax(axis=-1)
        right.append(np.mean(guess == fresh[:, t]))
print("next note right:", np.round(right, 2))
