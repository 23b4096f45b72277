"""X-ray inspection of bottles: six measurements of each bottle, is there glass in it? Checked on lots from the laboratory."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(46)


def bottles(glass):
    """Measurements of bottles, for an array that says which of them have glass in them."""
    n = len(glass)
    fill, angle = rng.normal(size=(2, n))
    spot = 1.5 * glass + 0.7 * rng.normal(size=n)
    edge = 0.9 * glass - 0.4 * angle + 0.6 * rng.normal(size=n)
    shade = fill + 0.5 * spot + 0.4 * rng.normal(size=n)
    return np.column_stack([fill, angle, spot, edge, shade, rng.normal(size=n)]).astype(np.float32)


glass = (rng.random(1600) < 0.5).astype(np.int64)
x = bottles(glass)
mean, std = x.mean(axis=0), x.std(axis=0)
lots = [np.full(80, kind) for kind in (0, 1, 0, 0, 1, 1)]              # the laboratory fills each lot with bottles of one kind
lots = [((bottles(lot) - mean) / std, lot) for lot in lots]
x = (x - mean) / std

init = np.random.default_rng(3)
model = nn.Sequential(
    nn.Affine(6, 32, rng=init), nn.BatchNorm(32), mg.relu,
    nn.Affine(32, 16, rng=init), nn.BatchNorm(16), mg.relu,
    nn.Affine(16, 2, rng=init),
)
optimizer = nn.AdamW(model.parameters(), lr=0.004)
batches = nn.Batches([x, glass], 64, seed=5, drop_last=True)


def check():
    with mg.no_grad():
        return [float(np.mean(model(rows).numpy().argmax(axis=1) == lot)) for rows, lot in lots]


for epoch in range(10):
    values = []
    for rows, labels in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    if epoch % 3 == 0:
        print(epoch, f"loss {np.mean(values):.3f}")

shares = check()
print("right in each lot", [round(share, 2) for share in shares])
print(f"right {np.mean(shares):.3f}")
