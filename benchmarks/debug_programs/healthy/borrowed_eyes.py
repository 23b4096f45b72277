"""First learn to see on shapes with many labels, then read a rare symbol with the same layer, which is kept as it is."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(4)
shapes = rng.normal(size=(8, 30))


def draw(n, kinds):
    which = rng.integers(0, kinds, n)
    return (shapes[which] + 1.0 * rng.normal(size=(n, 30))).astype(np.float32), which


def score(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


eyes = nn.Sequential(nn.Affine(30, 24, rng=rng), mg.relu)
many = nn.Sequential(eyes, nn.Affine(24, 8, rng=rng))
x, which = draw(400, 8)
first = nn.fit(many, nn.Batches([x, which], 50, seed=0), score, nn.Adam(many.parameters(), lr=0.01), epochs=12, progress=False)
print("shapes", round(first.losses[0], 3), round(first.losses[-1], 3))

for p in eyes.parameters():
    p.requires_grad = False
head = nn.Affine(24, 2, rng=rng)
rare = nn.Sequential(eyes, head)
x, which = draw(120, 8)
second = nn.fit(
    rare, nn.Batches([x, (which < 2).astype(np.int64)], 30, seed=1), score, nn.Adam(head.parameters(), lr=0.03),
    epochs=25, progress=False,
)
print("rare symbol", round(second.losses[0], 3), round(second.losses[-1], 3))
x, which = draw(300, 8)
with mg.no_grad():
    print("accuracy", np.mean(rare(x).numpy().argmax(axis=1) == (which < 2)).round(3))
