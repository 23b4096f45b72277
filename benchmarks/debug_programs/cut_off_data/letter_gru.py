"""Does the first letter come back later in the word?"""

import numpy as np
import nn
from minigrad import Tensor

rng = np.random.default_rng(86)
words = rng.integers(0, 5, (400, 5))
back = (words[:, 1:] == words[:, :1]).any(axis=1).astype(np.int64)


class Reader(nn.Module):
    def __init__(self, rng):
        self.embedding = nn.Embedding(5, 8, rng=rng)
        self.cell = nn.GRUCell(8, 16, rng=rng)
        self.output = nn.Affine(16, 2, rng=rng)

    def forward(self, ids):
        h = np.zeros((len(ids), 16), np.float32)
        letters = self.embedding(ids)
        for t in range(ids.shape[1]):
            h = self.cell(letters[:, t], h)
        summary = Tensor(h.data)
        return self.output(summary)


reader = Reader(rng)
adam = nn.Adam(reader.parameters(), lr=0.02)
for epoch in range(30):
    for ids, label in nn.Batches([words, back], 40, seed=8).epoch(epoch):
        adam.zero_grad()
        loss = nn.cross_entropy(reader(ids), label)
        loss.backward()
        adam.step()
    if epoch % 10 == 9:
        right = (reader(words).numpy().argmax(axis=1) == back).mean()
        print(epoch + 1, round(loss.item(), 4), f"{right:.3f}")
