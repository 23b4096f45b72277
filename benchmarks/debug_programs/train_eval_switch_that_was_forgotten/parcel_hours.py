import numpy as np

import nn


class BatchNorm(nn.Module):
    def __init__(self, width, momentum=0.1):
        self.gamma = nn.Parameter(np.ones(width, np.float32))
        self.beta = nn.Parameter(np.zeros(width, np.float32))
        self.mean, self.var = np.zeros(width, np.float32), np.ones(width, np.float32)
        self.momentum = momentum

    def forward(self, x):
        if self.training:
            mean, var = x.mean(axis=0), ((x - x.mean(axis=0)) ** 2).mean(axis=0)
            self.mean = (1 - self.momentum) * self.mean + self.momentum * mean.numpy()
            self.var = (1 - self.momentum) * self.var + self.momentum * var.numpy()
        else:
            mean, var = self.mean, self.var
        return self.gamma * (x - mean) / np.sqrt(var + 1e-5) + self.beta


# Delivery time of a parcel from its weight, its distance and the day of the week
rng = np.random.default_rng(121)
weight, distance, day = rng.gamma(2, 2, 800), rng.uniform(1, 50, 800), rng.integers(0, 7, 800)
hours = 1 + 0.05 * distance * (1 + (day == 5)) + 0.3 * weight + 0.1 * rng.normal(size=800)
x = np.concatenate([weight[:, None], distance[:, None], np.eye(7)[day]], axis=1).astype(np.float32)
y = hours[:, None].astype(np.float32)

model = nn.Sequential(nn.Affine(9, 24, rng=rng), BatchNorm(24), nn.functional.relu, nn.Affine(24, 1, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.02)
for epoch in range(20):
    for rows in np.split(rng.permutation(700), 14):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")

errors = []
for parcel, took in zip(x[700:], hours[700:]):
    guess = model(parcel[None]).item()
    errors.append((guess - took) ** 2)
print(f"mean squared error on new parcels {np.mean(errors):.4f}, variance {hours[700:].var():.4f}")
