"""Reviews with one to five stars, from six measured properties of a hotel."""
import numpy as np
import nn
from minigrad import relu

rng = np.random.default_rng(44)
hotels = rng.normal(size=(500, 6)).astype(np.float32)
taste = hotels @ np.array([0.9, -0.5, 0.4, 0.0, 0.3, -0.2]) + 0.4 * hotels[:, 0] * hotels[:, 1]
stars = np.clip(np.rint(3 + taste), 1, 5).astype(np.float32)


class StarModel(nn.Module):
    def __init__(self, rng):
        self.lower = nn.Affine(6, 32, rng=rng)
        self.upper = nn.Affine(32, 1, rng=rng)
        self.gain = nn.Parameter(np.ones(1, np.float32))
        self.offset = nn.Parameter(np.full(1, 2.0, np.float32))

    def forward(self, x):
        level = 2 * self.upper(relu(self.lower(x)))[:, 0]
        level = level.astype(np.int32)
        return self.gain * level + self.offset


model = StarModel(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.001)
batches = nn.Batches([hotels, stars], 50, seed=9)
for epoch in range(30):
    squares = []
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        squares.append(loss.item())
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1}: {np.mean(squares):.4f}")
print("stars of the average hotel off by", np.abs(model(hotels).numpy() - stars).mean().round(3))
