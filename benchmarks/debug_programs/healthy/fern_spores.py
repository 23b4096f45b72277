# %% Ferns: a network that knows many kinds gets a new head for four kinds of which we have few leaves
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(13)
FEATURES, KNOWN, NEW = 30, 20, 4
basis = rng.normal(size=(6, FEATURES))


def leaves(kinds, count):
    kind = rng.integers(len(kinds), size=count)
    x = np.tanh((kinds[kind] + 0.35 * rng.normal(size=(count, 6))) @ basis * 0.5) + 0.3 * rng.normal(
        size=(count, FEATURES)
    )
    return x.astype(np.float32), kind


# %% the body learns from twenty known kinds
body = nn.Sequential(nn.Affine(FEATURES, 48, rng=rng), np.tanh, nn.Affine(48, 16, rng=rng), np.tanh)
head = nn.Affine(16, KNOWN, rng=rng)
x, kind = leaves(rng.normal(size=(KNOWN, 6)), 3000)
optimizer = nn.Adam([*body.parameters(), *head.parameters()], lr=0.005)
batches = nn.Batches([x, kind], 60, seed=5)
for epoch in range(8):
    for inputs, labels in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(head(body(inputs)), labels)
        loss.backward()
        optimizer.step()
print(f"body: loss {loss.item():.3f}")

# %% it stays as it is; only the new head moves, on all leaves at once, held near zero by a strong penalty
for p in body.parameters():
    p.requires_grad = False
new_kinds = rng.normal(size=(NEW, 6))
few, few_kind = leaves(new_kinds, 32)
many, many_kind = leaves(new_kinds, 1000)
new_head = nn.Affine(16, NEW, rng=rng)
optimizer = nn.SGD(new_head.parameters(), lr=0.3)
for step in range(300):
    optimizer.zero_grad()
    loss = nn.cross_entropy(new_head(body(few)), few_kind) + 0.02 * (new_head.weight**2).sum()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1}: {loss.item():.3f}")

# %% how well does it know the new kinds?
with mg.no_grad():
    found = new_head(body(many)).numpy().argmax(axis=1)
print(f"accuracy on 1000 leaves of the new kinds: {np.mean(found == many_kind):.2f} (by chance {1 / NEW:.2f})")
