"""Where will the ball be after the throw? A GRU reads six positions and says the seventh."""
import numpy as np
import nn


def throws(n, rng):
    t = np.arange(7)[None, :] * 0.1
    up, side = rng.uniform(2, 5, (n, 1)), rng.uniform(-1, 1, (n, 1))
    path = np.stack([side * t, up * t - 4.9 * t ** 2], axis=2)
    return (path + 0.01 * rng.standard_normal(path.shape)).astype(np.float32)


class Hand(nn.Module):
    def __init__(self, rng):
        self.memory = nn.GRU(2, 20, rng=rng)
        self.reach = nn.Affine(20, 2, rng=rng)

    def forward(self, seen):
        states, last = self.memory(seen)
        return self.reach(last)


rng = np.random.default_rng(64)
paths = throws(200, rng)
hand = Hand(rng)
optimizer = nn.Adam(hand.parameters(), lr=0.01)
for step in range(150):
    batch = paths[rng.choice(200, 32, replace=False)]
    optimizer.zero_grad()
    loss = nn.mean_squared_error(hand(batch[:, :6]), batch[:, 6])
    optimizer.step()
    loss.backward()
    if step % 25 == 0:
        print(f"throw {step:3d}: error {loss.item():.4f}")

missed = np.abs(hand(paths[:, :6]).numpy() - paths[:, 6]).mean()
print(f"the hand misses the ball by {100 * missed:.1f} cm")
