"""Marks the notes on which a fiddle tune breathes: a GRU reads pitch and length of each note."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(3)
LONGEST = 64


def tune(length):
    """Pitches in semitones from the tonic, lengths in beats, and where a phrase ends."""
    pitch = rng.choice([0, 2, 4, 5, 7, 9, 11], size=length)
    beats = rng.choice([0.25, 0.5, 1.0, 2.0], size=length, p=[0.3, 0.35, 0.25, 0.1])
    before = np.concatenate([[0.0], beats[:-1]])
    ends = (np.isin(pitch, (0, 4, 7)) & (beats > before) & (beats >= 0.5)).astype(np.int64)
    return pitch, beats, ends


def in_one_array(tunes):
    notes = np.zeros((len(tunes), LONGEST, 8), np.float32)
    ends = np.zeros((len(tunes), LONGEST), np.int64)
    lengths = np.array([len(pitch) for pitch, _, _ in tunes])
    for row, (pitch, beats, end) in enumerate(tunes):
        notes[row, np.arange(len(pitch)), np.searchsorted([0, 2, 4, 5, 7, 9, 11], pitch)] = 1.0
        notes[row, : len(pitch), 7] = beats
        ends[row, : len(end)] = end
    return notes, ends, lengths


sizes = np.where(rng.random(300) < 0.03, rng.integers(48, LONGEST + 1, 300), rng.integers(5, 11, 300))
notes, ends, lengths = in_one_array([tune(size) for size in sizes])
is_note = np.arange(LONGEST) < lengths[:, None]


class Breath(nn.Module):
    def __init__(self, rng):
        self.gru = nn.GRU(8, 16, rng=rng)
        self.output = nn.Affine(16, 2, rng=rng)

    def forward(self, notes, is_note):
        states, _ = self.gru(notes, key_mask=is_note)
        return self.output(states)


model = Breath(np.random.default_rng(0))
optimizer = nn.SGD(model.parameters(), lr=0.2, momentum=0.9)
batches = nn.Batches([notes[:220], ends[:220], is_note[:220]], 22, seed=1)
for epoch in range(7):
    for heard, wanted, mask in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(heard, mask), wanted)
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
    print(epoch, f"{loss.item():.3f}")

model.eval()
with mg.no_grad():
    guess = model(notes[220:], is_note[220:]).numpy().argmax(axis=-1)
asked, right = is_note[220:], ends[220:]
found = np.mean(guess[asked & (right == 1)] == 1)
quiet = np.mean(guess[asked & (right == 0)] == 0)
print(f"phrase ends found {found:.2f}, other notes {quiet:.2f}, balanced {(found + quiet) / 2:.2f}")
