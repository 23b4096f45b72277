# %%
import numpy as np
import nn

rng = np.random.default_rng(61)
x = rng.normal(size=(300, 5)).astype(np.float32)
y = ((x[:, 0] * x[:, 1] + 0.7 * x[:, 2]) > 0).astype(np.int64)


def build(seed):
    r = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(5, 24, rng=r), np.tanh, nn.Affine(24, 24, rng=r), np.tanh, nn.Affine(24, 2, rng=r))


# %%
model = build(0)
optimizer = nn.Adam(model.parameters(), lr=0.01)
print(sum(p.size for p in model.parameters()), "parameters")

# %% Five folds, each from the beginning
scores = []
for fold in range(5):
    held = np.arange(300) % 5 == fold
    model = build(fold)
    for epoch in range(40):
        for rows in np.array_split(rng.permutation(np.flatnonzero(~held)), 6):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    score = (model(x[held]).numpy().argmax(axis=1) == y[held]).mean()
    print(f"fold {fold}: loss {loss.item():.3f}, accuracy {score:.3f}")
    scores.append(score)

# %%
print("cross-validated accuracy", np.mean(scores).round(3))
