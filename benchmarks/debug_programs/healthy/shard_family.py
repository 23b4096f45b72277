"""Which potsherds come from one vessel? Triplets with a margin; most of them are soon satisfied and give no gradient."""
import numpy as np
import minigrad as mg
import nn

VESSELS, WIDTH, MARGIN = 30, 14, 1.0
rng = np.random.default_rng(27)
clay = rng.normal(size=(VESSELS + 10, WIDTH))
stain = rng.normal(size=(4, WIDTH))


def sherds(vessel):
    return (clay[vessel] + rng.normal(0, 1.5, (len(vessel), 4)) @ stain + 0.2 * rng.normal(size=(len(vessel), WIDTH))).astype(np.float32)


def triplets(n):
    a = rng.integers(0, VESSELS, n)
    other = (a + rng.integers(1, VESSELS, n)) % VESSELS
    return sherds(a), sherds(a), sherds(other)


def gap(x, y):
    return ((x - y) ** 2).sum(axis=1)


net = nn.Sequential(nn.Affine(WIDTH, 32, rng=rng), mg.relu, nn.Affine(32, 8, rng=rng))
steps = nn.Adam(net.parameters(), lr=0.003)


def nearest_is_kin():
    vessel = np.repeat(np.arange(VESSELS, VESSELS + 10), 8)
    with mg.no_grad():
        z = net(sherds(vessel)).numpy()
    table = ((z[:, None] - z[None]) ** 2).sum(axis=-1) + 1e9 * np.eye(len(z))
    return np.mean(vessel[table.argmin(axis=1)] == vessel)


print(f"before: {nearest_is_kin():.3f}")
for step in range(500):
    anchor, kin, stranger = (net(x) for x in triplets(64))
    hinge = np.maximum(gap(anchor, kin) - gap(anchor, stranger) + MARGIN, 0)
    loss = hinge.mean()
    steps.zero_grad()
    loss.backward()
    steps.step()
    if step % 125 == 124:
        print(f"{step + 1}: loss {loss.item():.4f}, satisfied {np.mean(hinge.numpy() == 0):.2f}, nearest is kin {nearest_is_kin():.3f}")
