"""What does a driver call to the dogs? A call has one to seven sounds; it is left or right, fast or slow."""

import minigrad as mg
import nn
import numpy as np

SOUNDS, ROOM, CALLS = 20, 24, 4
rng = np.random.default_rng(60)


def calls(n):
    lengths = rng.integers(1, 8, size=n)
    ids = rng.integers(1, SOUNDS, size=(n, ROOM))
    there = nn.padding_mask(lengths, ROOM)
    last = ids[np.arange(n), lengths - 1]
    meaning = (ids[:, 0] % 2) * 2 + (last < 10)
    return np.where(there, ids, 0), there, meaning


class Dog(nn.Module):
    def __init__(self, rng):
        self.sounds = nn.Embedding(SOUNDS, 16, rng=rng, padding_idx=0)
        self.gru = nn.GRU(16, 32, rng=rng)
        self.output = nn.Affine(32, CALLS, rng=rng)

    def forward(self, ids, there):
        _, last = self.gru(self.sounds(ids), key_mask=there)
        return self.output(last)


ids, there, meaning = calls(1200)
new_ids, new_there, new_meaning = calls(300)
model = Dog(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([ids, there, meaning], 48, seed=5)
for epoch in range(12):
    model.train()
    total = 0.0
    for heard, mask, right in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(heard, mask), right)
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    with mg.no_grad():
        guess = model(new_ids, new_there).numpy().argmax(axis=1)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {total / len(batches):.3f}  right {np.mean(guess == new_meaning):.3f}")
