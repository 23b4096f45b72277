"""Which of two ring positions is further round? An encoder for each position, and a judge for the pair."""

import numpy as np

import nn


class Encoder(nn.Module):
    def __init__(self, rng):
        self.up = nn.Affine(6, 32, rng=rng)
        self.down = nn.Affine(32, 2, rng=rng)

    def forward(self, signal):
        return self.down(np.tanh(self.up(signal)))


class Judge(nn.Module):
    def __init__(self, rng):
        self.encoder = Encoder(rng)
        self.hidden = nn.Affine(4, 32, rng=rng)
        self.verdict = nn.Affine(32, 2, rng=rng)

    def forward(self, left, right):
        a = self.encoder(left).data
        b = self.encoder(right).data
        pair = np.concatenate([a, b], axis=-1)
        return self.verdict(np.tanh(self.hidden(pair)))


rng = np.random.default_rng(9)
angles = rng.uniform(-np.pi, np.pi, (1200, 2))
shift = rng.uniform(0, 2 * np.pi, 6)
signals = np.cos(2 * angles[:, :, None] * np.array([0.5, 0.5, 1, 1, 2, 2]) + shift).astype(np.float32)
winner = (angles[:, 1] > angles[:, 0]).astype(np.int64)

model = Judge(rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
batches = nn.Batches([signals[:1000], winner[:1000]], 50, seed=2)
for epoch in range(40):
    for signal, label in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(signal[:, 0], signal[:, 1]), label)
        loss.backward()
        optimizer.step()
    if epoch % 8 == 0:
        print(epoch, round(loss.item(), 4))

scores = model(signals[1000:, 0], signals[1000:, 1]).numpy()
print("right about", np.mean(scores.argmax(axis=1) == winner[1000:]))
