"""An average of six narrow networks, trained together."""

import numpy as np

import nn


class Member(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(2, 3, rng=rng)
        self.out = nn.Affine(3, 1, rng=rng)

    def forward(self, x):
        return self.out(np.tanh(self.hidden(x)))


class Ensemble(nn.Module):
    def __init__(self, n, seed):
        self.members = [Member(np.random.default_rng(seed)) for _ in range(n)]

    def forward(self, x):
        return sum(member(x) for member in self.members) / len(self.members)


rng = np.random.default_rng(141)
x = rng.uniform(-2, 2, size=(500, 2)).astype(np.float32)
y = (np.sin(2 * x[:, :1]) * np.cos(1.5 * x[:, 1:])).astype(np.float32)
model = Ensemble(6, seed=0)
history = nn.fit(
    model,
    nn.Batches([x, y], 50, seed=0),
    lambda m, batch: nn.mean_squared_error(m(batch[0]), batch[1]),
    nn.Adam(model.parameters(), lr=0.02),
    epochs=50,
    progress=False,
)
for epoch in range(0, 50, 5):
    print(f"epoch {epoch}: {np.mean(history.losses[10 * epoch : 10 * epoch + 10]):.4f}")
