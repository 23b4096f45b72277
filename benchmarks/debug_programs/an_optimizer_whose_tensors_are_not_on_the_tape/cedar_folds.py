"""Three-fold check of a small network that tells cedar from larch by the spectrum of a plank."""
import numpy as np
import nn

rng = np.random.default_rng(44)
cedar = rng.integers(0, 2, 900)
bands = rng.normal(size=(900, 10))
bands[:, :4] += 0.9 * np.where(cedar, 1, -1)[:, None] * np.array([1, -1, 1, -1])
bands = bands.astype(np.float32)
folds = np.array_split(rng.permutation(900), 3)


def new_model(seed):
    g = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(10, 16, rng=g), np.tanh, nn.Affine(16, 1, rng=g))


def train(model, optimizer, rows, epochs=20):
    batches = nn.Batches([bands[rows], cedar[rows].astype(np.float32)], 100, seed=0)
    for epoch in range(epochs):
        for x, y in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.binary_cross_entropy_with_logits(model(x)[:, 0], y)
            loss.backward()
            optimizer.step()
    return loss.item()


scores = []
model = new_model(0)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for k in range(3):
    rest = np.concatenate([folds[j] for j in range(3) if j != k])
    if k > 0:
        model = new_model(k)
    final = train(model, optimizer, rest)
    guess = model(bands[folds[k]]).numpy()[:, 0] > 0
    scores.append(float(np.mean(guess == cedar[folds[k]])))
    print(f"fold {k}: loss {final:.3f}, right {scores[-1]:.3f}")
print(f"mean of the folds {np.mean(scores):.3f}")
