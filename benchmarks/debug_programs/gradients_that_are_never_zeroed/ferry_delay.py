import numpy as np

import nn

# %% data: wind, swell, passengers, hour -> delay in quarters of an hour
rng = np.random.default_rng(17)
X = rng.normal(size=(512, 4)).astype(np.float32)
delay = np.maximum(X[:, 0] + 0.5 * X[:, 1], 0) + 0.3 * X[:, 2] - 0.2 * X[:, 3] ** 2
y = delay.astype(np.float32)[:, None]

# %% model
model = nn.Sequential(
    nn.Affine(4, 32, rng=rng),
    np.tanh,
    nn.Affine(32, 32, rng=rng),
    np.tanh,
    nn.Affine(32, 1, rng=rng),
)
optimizer = nn.SGD(model.parameters(), lr=0.05)
batches = nn.Batches([X[:448], y[:448]], 32, seed=4)

# %% training
curve = []
for epoch in range(40):
    for inputs, targets in batches.epoch(epoch):
        prediction = model(inputs)
        loss = nn.mean_squared_error(prediction, targets)
        loss.backward()
        optimizer.step()
        curve.append(loss.item())

# %% how did it go?
for i in range(0, len(curve), 80):
    print(f"{i:4d}  {np.mean(curve[i : i + 20]):.4f}")
held_out = nn.mean_squared_error(model(X[448:]), y[448:]).item()
print(f"held out: {held_out:.4f}, variance: {y[448:].var():.4f}")
