# Chirps per minute of a cricket, humidity and hour of the night -> temperature
import numpy as np
import nn

rng = np.random.default_rng(111)
chirps = rng.uniform(40, 180, 250)
humidity = rng.uniform(0.3, 1.0, 250)
hour = rng.uniform(0, 8, 250)
celsius = 10 + (chirps - 40) / 8 - 3 * humidity * (hour > 4) + rng.normal(0, 0.3, 250)

X = np.stack([chirps, humidity, hour], axis=1)
mean, std = X.mean(axis=0), X.std(axis=0)
X = ((X - mean) / std).astype(np.float32)
y = ((celsius - celsius.mean()) / celsius.std()).astype(np.float32)[:, None]

model = nn.Sequential(nn.Affine(3, 20, rng=rng), np.tanh, nn.Affine(20, 1, rng=rng))
optimizer = nn.SGD(model.parameters(), lr=0.05)

# %% training
log = []
for epoch in range(60):
    order = rng.permutation(200)
    for k in range(0, 200, 20):
        rows = order[k:k + 20]
        loss = nn.mean_squared_error(model(X[rows]), y[rows])
        loss.backward()
        optimizer.step()
        log.append(loss.item())

# %% result
print("loss per ten epochs", [round(float(np.mean(log[i:i + 100])), 3) for i in range(0, 600, 100)])
test_error = nn.mean_squared_error(model(X[200:]), y[200:]).item()
print("unseen nights", round(test_error, 3))
