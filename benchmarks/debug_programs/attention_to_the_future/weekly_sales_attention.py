# Forecast tomorrow's sales from the days so far; attention by hand.
import numpy as np

import nn
from minigrad import Tensor, softmax

rng = np.random.default_rng(91)
T, D = 20, 16
season = np.sin(2 * np.pi * (np.arange(T + 1) + rng.integers(0, 7, (400, 1))) / 7)
noise = rng.normal(size=(400, T + 1))
sales = rng.uniform(0.5, 2, (400, 1)) * season + np.cumsum(0.4 * noise, axis=1)


class Forecaster:
    def __init__(self, rng):
        self.lift = Tensor(rng.normal(0, 0.5, (2, D)), requires_grad=True)
        self.place = Tensor(rng.normal(0, 0.3, (T, D)), requires_grad=True)
        self.q, self.k, self.v = (Tensor(rng.normal(0, 0.25, (D, D)), requires_grad=True) for _ in range(3))
        self.out = Tensor(rng.normal(0, 0.25, (2 * D, 1)), requires_grad=True)

    def __call__(self, days):
        pair = np.stack([days, np.ones_like(days)], axis=2)
        x = pair @ self.lift + self.place
        scores = (x @ self.q) @ (x @ self.k).swapaxes(1, 2) / np.sqrt(D)
        allowed = np.triu(np.ones((T, T), dtype=bool))
        weights = softmax(np.where(allowed, scores, -1e9))
        return (np.concatenate([x, weights @ (x @ self.v)], axis=2) @ self.out)[..., 0]

    def parameters(self):
        return list(vars(self).values())


model = Forecaster(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(300):
    rows = rng.integers(0, 400, 40)
    forecast = model(sales[rows, :-1])
    loss = ((forecast - sales[rows, 1:]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        last = ((forecast.numpy()[:, -1] - sales[rows, -1]) ** 2).mean()
        print(f"step {step}: loss {loss.item():.4f}, on the last day {last:.4f}")
