import numpy as np

import nn


class WordModel(nn.Module):
    def __init__(self, vocab, width, rng):
        self.table = nn.Embedding(vocab, width, rng=rng, std=0.3)
        self.mix = nn.Sequential(nn.Affine(2 * width, 48, rng=rng), np.tanh, nn.Affine(48, width, rng=rng))
        self.output = nn.TiedOutput(self.table, bias=True)

    def forward(self, pairs):
        x = self.table(pairs)
        return self.output(self.mix(x.reshape(len(pairs), -1)))


rng = np.random.default_rng(207)
rule = rng.permutation(20)
pairs = rng.integers(0, 20, size=(800, 2))
nxt = rule[(pairs[:, 0] // 10 * 7 + pairs[:, 1]) % 20]
model = WordModel(20, 16, rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
print(model.num_parameters, "parameters")
for epoch in range(20):
    for rows in np.split(rng.permutation(800), 16):
        loss = nn.cross_entropy(model(pairs[rows]), nxt[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
