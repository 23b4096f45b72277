"""Which customers of a telephone company will leave? (Few do.)"""
import numpy as np
import nn

rng = np.random.default_rng(64)
n = 700
months = rng.exponential(20, n)
calls = rng.poisson(2.0, n)
bill = rng.normal(40, 12, n)
habits = rng.normal(size=(n, 8))
leaves = (rng.random(n) < 1 / (1 + np.exp(-(-3.0 - 0.03 * months + 0.9 * calls + 0.015 * (bill - 40))))).astype(np.int64)
table = np.column_stack([months / 20, calls / 2, (bill - 40) / 12, habits]).astype(np.float32)

# As many who leave as who stay.
stay, gone = np.flatnonzero(leaves == 0), np.flatnonzero(leaves == 1)
rows = np.concatenate([stay, rng.choice(gone, len(stay))])
table, leaves = table[rows], leaves[rows]

order = rng.permutation(len(table))
cut = int(0.75 * len(order))
train, test = order[:cut], order[cut:]
print(len(train), "rows to train,", len(test), "to test, share of leavers", leaves[train].mean().round(2), leaves[test].mean().round(2))

model = nn.Sequential(nn.Affine(11, 64, rng=rng), np.tanh, nn.Affine(64, 64, rng=rng), np.tanh, nn.Affine(64, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=5e-3)
for epoch in range(60):
    for part in np.array_split(rng.permutation(train), 20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(table[part]), leaves[part])
        loss.backward()
        optimizer.step()
    if epoch % 15 == 0:
        print(f"epoch {epoch:2d}: loss {loss.item():.3f}")

said = model(table[test]).numpy().argmax(axis=1)
recall = [np.mean(said[leaves[test] == k] == k) for k in (0, 1)]
print(f"test rows: stayers known {recall[0]:.3f}, leavers known {recall[1]:.3f}, balanced {np.mean(recall):.3f}")
