# %% Which kingfishers carry a ring? One in twenty does.
import numpy as np
import nn

rng = np.random.default_rng(3)
n = 1600
ringed = (rng.random(n) < 0.07).astype(np.int64)
look = rng.normal(size=(n, 6)) + 1.1 * ringed[:, None] * np.array([1, -1, 1, 0, 0, 0.5])
look = look.astype(np.float32)

# %%
counts = np.bincount(ringed[:1200])
importance = counts / counts.sum()
print("birds by class:", counts)

# %%
class Spotter(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(6, 24, rng=rng)
        self.last = nn.Affine(24, 2, rng=rng)

    def forward(self, x):
        return self.last(np.tanh(self.first(x)))


def objective(model, batch):
    seen, label = batch
    return nn.cross_entropy(model(seen), label, weight=importance)


def recall(model):
    guess = model(look[1200:]).numpy().argmax(axis=1)
    truth = ringed[1200:]
    return {"plain": np.mean(guess[truth == 0] == 0), "ringed": np.mean(guess[truth == 1] == 1)}


# %%
spotter = Spotter(rng)
batches = nn.Batches([look[:1200], ringed[:1200]], 60, seed=4)
history = nn.fit(spotter, batches, objective, nn.AdamW(spotter.parameters(), lr=0.004), epochs=25,
                 validate=recall, progress=False)
print({name: round(float(history.metric(name)[-1]), 2) for name in ("plain", "ringed")})
