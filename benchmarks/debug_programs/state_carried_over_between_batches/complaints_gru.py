import numpy as np

import nn


class Reader(nn.Module):
    def __init__(self, vocab, width, rng):
        self.embedding = nn.Embedding(vocab, width, rng=rng, std=0.3)
        self.gru = nn.GRU(width, width, rng=rng)
        self.out = nn.Affine(width, 2, rng=rng)
        self.state = None

    def forward(self, ids):
        x = self.embedding(ids)
        if self.state is None or self.state.shape[0] != len(ids):
            self.state = np.zeros((len(ids), x.shape[-1]), np.float32)
        _, last = self.gru(x, self.state, key_mask=ids > 0)
        self.state = last.detach()
        return self.out(last)


# Is there an odd number of complaints (words 1 to 3) in the sentence? 0 is padding.
rng = np.random.default_rng(156)
ids = rng.choice(np.arange(1, 12), size=(1000, 6), p=[0.12] * 3 + [0.08] * 8)
ids[np.arange(6) >= rng.integers(1, 7, size=(1000, 1))] = 0
label = ((ids >= 1) & (ids <= 3)).sum(axis=1) % 2

model = Reader(12, 16, rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
batches = nn.Batches([ids[:800], label[:800]], 40, seed=1)
for epoch in range(20):
    total = 0.0
    for x, y in batches.epoch(epoch):
        loss = nn.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(batches)
    if epoch % 2 == 1:
        accuracy = (model(ids[800:]).numpy().argmax(axis=1) == label[800:]).mean()
        print(f"epoch {epoch + 1}: loss {total:.4f}, accuracy {accuracy:.3f}")
