# %% How sour is the crock? Acid in pickled cabbage, from salt, warmth, days and sugar. 768 jars.
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(66)
salt, warmth = rng.uniform(1.2, 3.5, 768), rng.normal(19, 2.5, 768)
days, sugar = rng.uniform(2, 40, 768), rng.uniform(2.5, 5.0, 768)
pace = 0.12 * 1.9 ** ((warmth - 19) / 10) * (1.3 - 0.2 * salt)
acid = 0.45 * sugar * (1 - np.exp(-pace * days)) + rng.normal(0, 0.04, 768)

# %% The first 640 jars teach, the others ask
x = np.stack([salt, warmth, days, sugar], axis=1)
x = ((x - x[:640].mean(axis=0)) / x[:640].std(axis=0)).astype(np.float32)
middle, width = acid[:640].mean(), acid[:640].std()
y = ((acid - middle) / width).astype(np.float32)[:, None]

# %% A step from ten groups of sixteen jars
PARTS = 10
net_rng = np.random.default_rng(0)
model = nn.Sequential(nn.Affine(4, 24, rng=net_rng), np.tanh, nn.Affine(24, 1, rng=net_rng))
optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
batches = nn.Batches([x[:640], y[:640]], 16, seed=3)
for epoch in range(20):
    optimizer.zero_grad()
    total = 0.0
    for number, (jars, sour) in enumerate(batches.epoch(epoch), start=1):
        loss = nn.mean_squared_error(model(jars), sour) / PARTS
        loss.backward()
        total += loss.item() * PARTS / len(batches)
        if number % PARTS == 0:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 10 == 9:
        print(epoch + 1, f"{total:.4f}")

# %% Other jars
model.eval()
with mg.no_grad():
    guess = model(x[640:]).numpy()[:, 0] * width + middle
print(f"off by {np.abs(guess - acid[640:]).mean():.3f} percent of acid; the mean is off by {np.abs(middle - acid[640:]).mean():.3f}")
