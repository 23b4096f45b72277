"""Which note opened the melody? A recurrent cell hears twelve notes and answers at the end."""

import numpy as np

import nn
from minigrad import Tensor

NOTES, LENGTH, WIDTH = 5, 12, 24


class Listener(nn.Module):
    def __init__(self, rng):
        self.notes = nn.Embedding(NOTES, 8, rng=rng)
        self.cell = nn.GRUCell(8, WIDTH, rng=rng)
        self.answer = nn.Affine(WIDTH, NOTES, rng=rng)

    def forward(self, melodies):
        x = self.notes(melodies)
        h = Tensor(np.zeros((len(melodies), WIDTH), np.float32))
        for t in range(melodies.shape[1]):
            h = self.cell(x[:, t], h.detach())
        return self.answer(h)


rng = np.random.default_rng(59)
model = Listener(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(400):
    melodies = rng.integers(0, NOTES, (32, LENGTH))
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(melodies), melodies[:, 0])
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
    if step % 80 == 0:
        print(f"step {step:3d}: {loss.item():.3f}")

model.eval()
melodies = rng.integers(0, NOTES, (500, LENGTH))
print("right:", np.mean(model(melodies).numpy().argmax(axis=1) == melodies[:, 0]))
