"""Quality of wine from its chemistry: few bottles, many measurements."""

import numpy as np

import nn
from minigrad import no_grad


class WineNet(nn.Module):
    def __init__(self, rng):
        self.drop_in = nn.Dropout(0.5, rng=rng)
        self.hidden = nn.Affine(40, 128, rng=rng)
        self.drop = nn.Dropout(0.5, rng=rng)
        self.out = nn.Affine(128, 2, rng=rng)

    def forward(self, x):
        return self.out(self.drop(nn.functional.relu(self.hidden(self.drop_in(x)))))


def evaluate(model, x, y):
    model.eval()
    with no_grad():
        return nn.cross_entropy(model(x), y).item()


rng = np.random.default_rng(120)
x = rng.normal(size=(520, 40)).astype(np.float32)
good = (x[:, :4].sum(axis=1) + 1.0 * rng.normal(size=520) > 0).astype(np.int64)
x_train, y_train, x_val, y_val = x[:120], good[:120], x[120:], good[120:]

model = WineNet(rng)
optimizer = nn.Adam(model.parameters(), lr=0.003)
for epoch in range(30):
    for rows in np.split(rng.permutation(120), 12):
        loss = nn.cross_entropy(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    validation = evaluate(model, x_val, y_val)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, validation {validation:.4f}")
