import numpy as np
import nn

rng = np.random.default_rng(33)
trees = rng.normal(size=(300, 5)).astype(np.float32)
fruit = (trees @ rng.normal(size=(5, 1)) + 0.1 * rng.normal(size=(300, 1))).astype(np.float32)


class Yield(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(5, 40, rng=rng), np.tanh)
        self.head = nn.Affine(40, 1, rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


model = Yield(rng)
slow = nn.SGD(model.parameters(), lr=0.17)
fast = nn.SGD(model.head.parameters(), lr=0.17)

for step in range(300):
    rows = rng.integers(0, 300, 50)
    slow.zero_grad()
    fast.zero_grad()
    loss = nn.mean_squared_error(model(trees[rows]), fruit[rows])
    loss.backward()
    slow.step()
    fast.step()
    if step % 50 == 0 or step == 299:
        print(step, f"{loss.item():.4f}")
