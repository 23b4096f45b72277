"""Fatigue of a muscle: leaky counters of its impulses, and a small network that reads them."""
import numpy as np
import nn

rng = np.random.default_rng(16)
PEOPLE, TICKS = 40, 20
keep = np.array([0.8, 0.97, 0.99])
rest = np.zeros((PEOPLE, len(keep)))


def impulses():
    """Strength of each impulse; tired are those with much work in the first half and little in the second."""
    early, late = rng.uniform(0, 2, (2, PEOPLE, 1))
    work = np.concatenate([early * rng.uniform(0.5, 1.5, (PEOPLE, TICKS // 2)), late * rng.uniform(0.5, 1.5, (PEOPLE, TICKS // 2))], axis=1)
    tired = (early - late)[:, 0] * 1.5
    return work, tired[:, None].astype(np.float32)


def counters(work):
    level = rest
    for tick in range(work.shape[1]):
        level *= keep
        level += work[:, tick, None] * np.sqrt(1 - keep)
    return level.copy()


class Fatigue(nn.Module):
    def __init__(self):
        self.hidden = nn.Affine(3, 16, rng=rng)
        self.output = nn.Affine(16, 1, rng=rng)

    def forward(self, levels):
        return self.output(np.tanh(self.hidden(levels)))


model = Fatigue()
optimizer = nn.Adam(model.parameters(), lr=0.01)
curve = []
for visit in range(500):
    work, tired = impulses()
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(counters(work)), tired)
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
    if visit % 100 == 99:
        print(f"visit {visit + 1}: {np.mean(curve[-50:]):.4f}")
print("variance of the target", round(float(np.var(tired)), 3))
