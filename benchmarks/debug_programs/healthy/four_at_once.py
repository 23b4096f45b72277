# %%
# Memory holds eight pictures at a time, so that one update collects four portions.
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(97)
kind = rng.integers(0, 3, 400)
y, x = np.mgrid[0:10, 0:10]
pictures = np.empty((400, 1, 10, 10), np.float32)
for i, k in enumerate(kind):
    phase = rng.uniform(0, 2 * np.pi)
    stripes = [np.sin(1.3 * x + phase), np.sin(1.3 * y + phase), np.sin(0.9 * (x + y) + phase)][k]
    pictures[i, 0] = stripes + rng.normal(0, 0.5, (10, 10))

# %%
seed = np.random.default_rng(0)
net = nn.Sequential(
    nn.Conv2d(1, 6, 3, rng=seed),
    mg.relu,
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Affine(96, 3, rng=seed),
)
optimizer = nn.SGD(net.parameters(), lr=0.1)
PORTIONS = 4

# %%
order = np.random.default_rng(1)
seen = 0
for epoch in range(6):
    total = 0.0
    for rows in np.split(order.permutation(320), 40):
        loss = nn.cross_entropy(net(pictures[rows]), kind[rows]) / PORTIONS
        loss.backward()
        seen += 1
        total += loss.item() * PORTIONS / 40
        if seen % PORTIONS == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}: {total:.3f}")

# %%
with mg.no_grad():
    right = net(pictures[320:]).numpy().argmax(axis=1) == kind[320:]
print("accuracy", right.mean())
