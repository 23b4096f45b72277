"""Name the ruler on a coin from its relief. The museum keeps a drawer for each ruler."""

import minigrad as mg
import nn
import numpy as np

RULERS, SIDE = 6, 8
rng = np.random.default_rng(3)
portraits = rng.normal(size=(RULERS, SIDE * SIDE))


def coins(ruler):
    worn = rng.uniform(0.4, 1.0, (len(ruler), 1))
    relief = worn * portraits[ruler] + rng.normal(0, 0.8, (len(ruler), SIDE * SIDE))
    return (5 + 2 * relief).astype(np.float32)


class Expert(nn.Module):
    def __init__(self, rng):
        self.norm = nn.BatchNorm(SIDE * SIDE)
        self.hidden = nn.Affine(SIDE * SIDE, 32, rng=rng)
        self.between = nn.BatchNorm(32)
        self.output = nn.Affine(32, RULERS, rng=rng)

    def forward(self, x):
        return self.output(mg.relu(self.between(self.hidden(self.norm(x)))))


known = rng.integers(RULERS, size=1200)
reliefs = coins(known)
model = Expert(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.003)
batches = nn.Batches([reliefs, known], 40, seed=7)
model.train()
for epoch in range(8):
    right = 0
    for x, ruler in batches.epoch(epoch):
        logits = model(x)
        loss = nn.cross_entropy(logits, ruler)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += np.sum(logits.numpy().argmax(axis=1) == ruler)
    print(f"epoch {epoch + 1}: loss {loss.item():.3f}, right {right / len(known):.3f}")

shares = []
with mg.no_grad():
    for ruler in range(RULERS):
        drawer = coins(np.full(50, ruler))
        named = model(drawer).numpy().argmax(axis=1)
        shares.append(np.mean(named == ruler))
print("right in each drawer:", np.round(shares, 2))
print(f"in all drawers: {np.mean(shares):.3f}")
