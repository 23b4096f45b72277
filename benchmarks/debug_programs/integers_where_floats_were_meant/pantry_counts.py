import numpy as np
import nn

rng = np.random.default_rng(93)
counts = rng.integers(0, 50, (250, 4))
need = (counts @ np.array([0.02, -0.03, 0.01, 0.0]) + 0.5)[:, None]


def scale(table):
    """Bring each column to the range from 0 to 1."""
    scaled = np.zeros_like(table)
    for column in range(table.shape[1]):
        values = table[:, column]
        low, high = values.min(), values.max()
        scaled[:, column] = (values - low) / (high - low)
    return scaled


inputs = scale(counts).astype(np.float32)
model = nn.Sequential(nn.Affine(4, 12, rng=rng), np.tanh, nn.Affine(12, 1, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)


def loss_of(model, batch):
    x, y = batch
    return nn.mean_squared_error(model(x), y)


data = nn.Batches([inputs, need.astype(np.float32)], 25, seed=9)
history = nn.fit(model, data, loss_of, optimizer, epochs=60, progress=False)
for at in (0, 100, 300, 590):
    print(at, round(float(np.mean(history.losses[at : at + 10])), 4))
print("variance of the need", round(float(need.var()), 4))
