import numpy as np
import minigrad as mg
import nn

# Stamps of seven river post offices: from the ink's spectrum, say which office. New ones arrive sorted, in bags.
rng = np.random.default_rng(61)
OFFICES = 7
ink = rng.normal(size=(OFFICES, 16))


def bag(office, n):
    return (ink[office] + rng.normal(0, 0.8, (n, 16))).astype(np.float32)


where = rng.integers(0, OFFICES, 1200)
spectra = np.concatenate([bag(k, 1) for k in where])

net = nn.Sequential(
    nn.Affine(16, 32, rng=rng), nn.BatchNorm(32), mg.relu,
    nn.Affine(32, 32, rng=rng), nn.BatchNorm(32), mg.relu, nn.Affine(32, OFFICES, rng=rng),
)
optimizer = nn.SGD(net.parameters(), lr=0.05, momentum=0.9)


def sort_bags():
    hits = []
    with mg.no_grad():
        for office in range(OFFICES):
            hits.append(np.mean(net(bag(office, 40)).numpy().argmax(axis=1) == office))
    return np.mean(hits)


for epoch in range(10):
    net.train()
    order = rng.permutation(len(where))
    for i in range(0, len(order), 60):
        rows = order[i : i + 60]
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(spectra[rows]), where[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, bags sorted {sort_bags():.3f}")
