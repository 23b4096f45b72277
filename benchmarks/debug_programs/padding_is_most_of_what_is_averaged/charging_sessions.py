"""Predicts the power of the next five minutes of a charging session from what the charger has measured so far."""
import numpy as np
import minigrad as mg
import nn

LONGEST = 72
rng = np.random.default_rng(5)


def session():
    """State of charge, battery temperature and power in steps of five minutes; most drivers leave early."""
    steps = int(rng.choice([4, 5, 6, 7, 8, LONGEST], p=[0.2, 0.25, 0.25, 0.15, 0.14, 0.01]))
    soc, warm = rng.uniform(0.1, 0.5), rng.normal(0, 0.5)
    limit = rng.choice([0.5, 0.8, 1.1])
    rows = []
    for _ in range(steps + 1):
        power = min(limit, 1.6 * (1 - soc)) * (1 - 0.15 * abs(warm)) + rng.normal(0, 0.02)
        rows.append([(soc - 0.5) / 0.2, warm, (power - 0.7) / 0.25])
        soc, warm = min(soc + 0.03 * power, 0.98), 0.9 * warm + 0.1 * power
    return np.array(rows, np.float32)


def padded(sessions):
    x = np.zeros((len(sessions), LONGEST, 3), np.float32)
    y = np.zeros((len(sessions), LONGEST), np.float32)
    real = np.zeros((len(sessions), LONGEST), bool)
    for i, rows in enumerate(sessions):
        n = len(rows) - 1
        x[i, :n], y[i, :n], real[i, :n] = rows[:-1], rows[1:, 2], True
    return x, y, real


class Forecast(nn.Module):
    def __init__(self, rng):
        self.gru = nn.GRU(3, 16, rng=rng)
        self.head = nn.Affine(16, 1, rng=rng)

    def forward(self, x, real):
        states, _ = self.gru(x, key_mask=real)
        return self.head(states)[:, :, 0]


train, test = padded([session() for _ in range(400)]), padded([session() for _ in range(200)])
model = Forecast(np.random.default_rng(2))
optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.9)
batches = nn.Batches(train, 40, seed=0)

for epoch in range(12):
    for x, y, real in batches.epoch(epoch):
        optimizer.zero_grad()
        error = (model(x, real) - y) * real
        loss = (error**2).mean()
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
    x, y, real = test
    with mg.no_grad():
        guess = model(x, real).numpy()
    print(epoch, f"loss {loss.item():.4f}", f"error in test {np.sqrt(np.mean((guess - y)[real] ** 2)) * 0.25:.4f}")
