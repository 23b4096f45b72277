# %% Late trams: will the next one come more than five minutes late?
import numpy as np
import nn

rng = np.random.default_rng(51)

# %% the log of the depot: hour, passengers, rain in mm, roadworks on the line
hour = rng.integers(5, 23, 900)
passengers = rng.poisson(40, 900)
rain = rng.integers(0, 30, 900)
roadworks = rng.integers(0, 4, 900)
late = 0.06 * (passengers - 40) + 0.08 * rain + 0.7 * roadworks + 1.2 * np.isin(hour, [7, 8, 16, 17]) > 2.6
log = np.stack([hour, passengers, rain, roadworks], axis=1)

# %% scale each column to numbers between 0 and 1
scaled = np.zeros_like(log)
for column in range(log.shape[1]):
    low, high = log[:, column].min(), log[:, column].max()
    scaled[:, column] = (log[:, column] - low) / (high - low)

rush = np.eye(23)[hour][:, 5:]
inputs = np.concatenate([scaled, 0.3 * rush], axis=1).astype(np.float32)
labels = late.astype(np.int64)

# %% network and training
model = nn.Sequential(nn.Affine(inputs.shape[1], 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


history = nn.fit(
    model, nn.Batches([inputs[:700], labels[:700]], 50, seed=0), loss, nn.Adam(model.parameters(), lr=0.01),
    epochs=60, progress=False,
)  # fmt: skip

# %%
guess = model(inputs[700:]).numpy().argmax(axis=1)
print(f"loss {history.losses[0]:.3f} ... {history.losses[-1]:.3f}")
print(f"right for {np.mean(guess == labels[700:]):.3f} of the later trams; always guessing the same: "
      f"{max(np.mean(labels[700:]), 1 - np.mean(labels[700:])):.3f}")
