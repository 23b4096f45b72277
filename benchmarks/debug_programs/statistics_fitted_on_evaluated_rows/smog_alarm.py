"""Predict from eight sensors whether tomorrow is a day of smog. Trained on three years, tested on the following winter."""
import numpy as np
import nn

rng = np.random.default_rng(41)


def days(n, season):
    stillness = rng.normal(season, 1.0, n)
    sensors = stillness[:, None] * np.linspace(0.6, 1.4, 8) + rng.normal(0, 0.5, (n, 8))
    smog = (stillness + rng.normal(0, 0.3, n) > 0.8).astype(np.int64)
    return 40 + 12 * sensors, smog


def standard(table):
    return ((table - table.mean(axis=0)) / table.std(axis=0)).astype(np.float32)


years, smog = days(900, 0.0)
winter, winter_smog = days(120, 1.9)

x_train, x_test = standard(years), standard(winter)
print("share of smog days:", smog.mean().round(2), "in training,", winter_smog.mean().round(2), "in the winter")


class Alarm(nn.Module):
    def __init__(self):
        self.inner = nn.Affine(8, 16, rng=rng)
        self.outer = nn.Affine(16, 2, rng=rng)

    def forward(self, x):
        return self.outer(np.maximum(self.inner(x), 0.0))


model = Alarm()
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    order = rng.permutation(len(x_train))
    for rows in np.array_split(order, 18):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x_train[rows]), smog[rows])
        loss.backward()
        optimizer.step()

for title, x, y in [("training", x_train, smog), ("winter", x_test, winter_smog)]:
    logits = model(x)
    accuracy = (logits.numpy().argmax(axis=1) == y).mean()
    print(f"{title:9s} loss {nn.cross_entropy(logits, y).item():.3f}  accuracy {accuracy:.3f}")
