"""Which word is in the clip? Each clip has 12 frames, and only one of them holds the word."""

import numpy as np

import nn

rng = np.random.default_rng(37)
sounds = rng.normal(size=(6, 8)) * 1.5


def clips(count):
    word = rng.integers(0, 6, count)
    frames = rng.normal(size=(count, 12, 8)) * 0.7
    place = rng.integers(0, 12, count)
    frames[np.arange(count), place] += sounds[word]
    return frames.astype(np.float32), word


class Listener(nn.Module):
    def __init__(self, rng):
        self.frame = nn.Affine(8, 24, rng=rng)
        self.score = nn.Affine(24, 1, rng=rng)
        self.word = nn.Affine(24, 6, rng=rng)

    def forward(self, frames):
        heard = np.tanh(self.frame(frames))
        scores = self.score(heard)[..., 0]
        weights = nn.functional.softmax(scores, axis=0)
        return self.word((weights[..., None] * heard).sum(axis=1))


x, y = clips(600)
x_new, y_new = clips(300)
model = Listener(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    for start in range(0, 600, 60):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[start : start + 60]), y[start : start + 60])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
right = [model(x_new[i : i + 1]).numpy().argmax() == y_new[i] for i in range(300)]
print("accuracy, one clip at a time:", np.mean(right))
