"""Gearboxes: a body that learned six faults on the test bench is kept, and a new head learns four faults in the field."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(81)
faults = rng.normal(size=(6, 12))


def bench(n):
    kind = rng.integers(6, size=n)
    return (faults[kind] + 0.7 * rng.normal(size=(n, 12))).astype(np.float32), kind


def field(n):
    kind = rng.integers(4, size=n)
    x = faults[kind] * rng.uniform(0.8, 1.2, (n, 1)) + 0.9 * rng.normal(size=(n, 12))
    return x.astype(np.float32), kind


class Faults(nn.Module):
    def __init__(self, kinds, rng):
        self.body = nn.Sequential(nn.Affine(12, 64, rng=rng), mg.relu, nn.Affine(64, 48, rng=rng), mg.relu)
        self.head = nn.Affine(48, kinds, rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


def accuracy(model, x, kind):
    with mg.no_grad():
        return float(np.mean(model(x).numpy().argmax(axis=1) == kind))


def cross_entropy(model, batch):
    x, kind = batch
    return nn.cross_entropy(model(x), kind)


bench_x, bench_kind = bench(1800)
mean, std = bench_x.mean(axis=0), bench_x.std(axis=0)
field_x, field_kind = field(300)
test_x, test_kind = field(600)
bench_x, field_x, test_x = ((x - mean) / std for x in (bench_x, field_x, test_x))

init = np.random.default_rng(1)
model = Faults(6, init)
history = nn.fit(
    model, nn.Batches([bench_x, bench_kind], 60, seed=0), cross_entropy, nn.Adam(model.parameters(), lr=0.003),
    epochs=6, progress=False,
)
print("bench", f"{np.mean(history.losses[-20:]):.3f}", f"{accuracy(model, bench_x, bench_kind):.3f}")

model.head = nn.Affine(48, 4, rng=init)
for parameter in model.body.parameters():
    parameter.requires_grad = False
history = nn.fit(
    model, nn.Batches([field_x, field_kind], 30, seed=1), cross_entropy, nn.Adam(model.head.parameters(), lr=0.005),
    epochs=10, validate=lambda model: {"right": accuracy(model, test_x, test_kind)}, progress=False,
)
print("field", f"{np.mean(history.losses[-10:]):.3f}", [round(value, 3) for value in history.metric("right")[::3]])
