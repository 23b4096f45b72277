# %% Recordings of five species: loudness in 20 bands of frequency
import nn
import numpy as np

rng = np.random.default_rng(5)
SPECIES = ["wren", "robin", "crow", "owl", "finch"]
bands = np.linspace(0, 1, 20)
pitch = np.array([0.8, 0.6, 0.2, 0.1, 0.7])
spread = np.array([0.05, 0.1, 0.15, 0.05, 0.15])


def record(n):
    species = rng.integers(len(SPECIES), size=(n, 1))
    call = np.exp(-(((bands - pitch[species]) / spread[species]) ** 2))
    return (call + rng.normal(0, 0.2, call.shape)).astype(np.float32), species


calls, species = record(800)
new_calls, new_species = record(200)

# %% The table has one column for the species, the loss wants one number for each call
labels = species.argmax(axis=1)
print(calls.shape, labels.shape, labels.dtype)

# %% A small network
model = nn.Sequential(
    nn.Affine(20, 32, rng=rng),
    np.tanh,
    nn.Dropout(0.1, rng=rng),
    nn.Affine(32, len(SPECIES), rng=rng),
)


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


history = nn.fit(
    model,
    nn.Batches([calls, labels], 32, seed=0),
    loss,
    nn.AdamW(model.parameters(), lr=0.003),
    epochs=10,
    clip_norm=1.0,
    progress=False,
)
print("loss", round(history.losses[0], 3), "->", round(history.losses[-1], 4))

# %% What does it hear in the new recordings?
heard = model(new_calls).numpy().argmax(axis=1)
for k, name in enumerate(SPECIES):
    print(f"{name:6s} {np.sum(new_species == k):3d} recorded, {np.sum(heard == k):3d} heard")
print("right:", np.mean(heard == new_species[:, 0]))
