# %% The attic under the roof: warn an hour ahead when it gets too hot for the stored paintings
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(14)
LIMIT = 86.0  # degrees Fahrenheit, from the insurance's leaflet

# %% the logger's file: outside temperature, sun on the roof, wind, and the attic an hour later
hours = 1200
outside = rng.normal(22, 6, hours)
sun = rng.beta(1.2, 1.2, hours)
wind = rng.gamma(2, 1.5, hours)
celsius = outside + 11 * sun - 0.8 * wind + rng.normal(0, 1, hours)
fahrenheit = celsius * 9 / 5 + 32
print(f"the attic: {celsius.min():.0f} to {celsius.max():.0f} °C; above the limit {np.mean(fahrenheit > LIMIT):.0%}")

# %% what the network reads, and what it shall say
x = np.stack([(outside - 22) / 6, sun * 2 - 1, wind / 3 - 1], axis=1).astype(np.float32)
train, test = np.arange(900), np.arange(900, hours)
too_hot = (celsius[train] > LIMIT).astype(np.int64)

# %% the network
model = nn.Sequential(nn.Affine(3, 16, rng=rng), mg.relu, nn.Affine(16, 2, rng=rng))
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([x[train], too_hot], 30, seed=0)
for epoch in range(20):
    total = 0.0
    for inputs, labels in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(epoch + 1, round(total / len(batches), 4))

# %% would it have warned?
with mg.no_grad():
    warned = model(x[test]).numpy().argmax(axis=1) == 1
hot = fahrenheit[test] > LIMIT
print(f"hot hours that were announced: {np.mean(warned[hot]):.2f}; false alarms: {np.mean(warned[~hot]):.2f}")
