"""Finch songs: a network that learned 12 notes from many aviaries learns a new aviary's four dialects from 80 songs."""

import numpy as np

import minigrad as mg
import nn

BANDS, NOTES, DIALECTS = 24, 12, 4
rng = np.random.default_rng(21)
sound = rng.normal(0, 1.0, size=(NOTES, BANDS))


def recordings(note, rng):
    return (sound[note] + rng.normal(0, 0.8, size=(*note.shape, BANDS))).astype(np.float32)


class Ear(nn.Module):
    def __init__(self, classes, rng):
        self.hidden = nn.Affine(BANDS, 32, rng=rng)
        self.output = nn.Affine(32, classes, rng=rng)

    def features(self, x):
        return mg.relu(self.hidden(x))

    def forward(self, x):
        return self.output(self.features(x).mean(axis=1))       # the mean over the notes of a song


def cross_entropy(model, batch):
    x, labels = batch
    return nn.cross_entropy(model(x), labels)


# First the notes, each as a song of one note
note = rng.integers(NOTES, size=(1200, 1))
model = Ear(NOTES, np.random.default_rng(0))
batches = nn.Batches([recordings(note, rng), note[:, 0]], 60, seed=0)
history = nn.fit(model, batches, cross_entropy, nn.Adam(model.parameters(), lr=0.01), epochs=8, progress=False)
print(f"notes: loss {history.losses[0]:.2f} ... {history.losses[-1]:.2f}")

# Then the dialects: which notes a bird likes. The ear stays as it is, and a new output learns
habit = rng.dirichlet(np.full(NOTES, 0.6), size=DIALECTS)
dialect = rng.integers(DIALECTS, size=280)
songs = recordings(np.stack([rng.choice(NOTES, size=9, p=habit[d]) for d in dialect]), rng)
for p in model.parameters():
    p.requires_grad = False
model.output = nn.Affine(32, DIALECTS, rng=np.random.default_rng(1))
optimizer = nn.AdamW(model.output.parameters(), lr=0.02)
model.train()
for epoch in range(25):
    for x, labels in nn.Batches([songs[:80], dialect[:80]], 16, seed=1).epoch(epoch):
        optimizer.zero_grad()
        loss = cross_entropy(model, (x, labels))
        loss.backward()
        optimizer.step()
model.eval()
right = np.mean(model(songs[80:]).numpy().argmax(axis=1) == dialect[80:])
print(f"dialects: loss {loss.item():.2f}, right for {right:.2f} of 200 other songs")
