# %%
import numpy as np
import nn

rng = np.random.default_rng(17)
raw = rng.normal(size=(300, 5)) * [1.0, 20.0, 0.1, 5.0, 300.0] + [3.0, 100.0, 0.0, -4.0, 2000.0]
z = (raw - [3.0, 100.0, 0.0, -4.0, 2000.0]) / [1.0, 20.0, 0.1, 5.0, 300.0]
label = ((z[:, 0] * z[:, 1] + 0.7 * z[:, 2]) > 0).astype(np.int64)


def build(seed):
    r = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(5, 24, rng=r), np.tanh, nn.Affine(24, 24, rng=r), np.tanh, nn.Affine(24, 2, rng=r))


# %% Five folds, each from the beginning
scores = []
for fold in range(5):
    held = np.arange(300) % 5 == fold
    mean, std = raw[~held].mean(axis=0), raw[~held].std(axis=0)
    x = ((raw - mean) / std).astype(np.float32)
    model = build(fold)
    optimizer = nn.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        for rows in np.array_split(rng.permutation(np.flatnonzero(~held)), 6):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(x[rows]), label[rows])
            loss.backward()
            optimizer.step()
    score = (model(x[held]).numpy().argmax(axis=1) == label[held]).mean()
    print(f"fold {fold}: loss {loss.item():.3f}, accuracy {score:.3f}")
    scores.append(score)

# %%
print("cross-validated accuracy", np.mean(scores).round(3))
