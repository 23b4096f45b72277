"""How many people will come to the museum tomorrow? The two turnstiles report a count of one byte each, twice a day."""

import numpy as np

import minigrad as mg


class Forecast:
    """A network with one hidden layer, and its Adam."""

    def __init__(self, inputs, hidden, rng):
        shapes = {"w1": (inputs, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
        self.p = {k: mg.Tensor(rng.normal(0, s[0] ** -0.5, s), requires_grad=True, name=k) for k, s in shapes.items()}
        self.m = {k: np.zeros(s) for k, s in shapes.items()}
        self.v = {k: np.zeros(s) for k, s in shapes.items()}
        self.t = 0

    def __call__(self, x):
        return (np.tanh(x @ self.p["w1"] + self.p["b1"]) @ self.p["w2"] + self.p["b2"])[:, 0]

    def step(self, loss, lr):
        for p in self.p.values():
            p.grad = None
        loss.backward()
        self.t += 1
        for k, p in self.p.items():
            g = p.grad.numpy()
            self.m[k] += 0.1 * (g - self.m[k])
            self.v[k] += 0.01 * (g * g - self.v[k])
            p.data -= lr * (self.m[k] / (1 - 0.9**self.t)) / (np.sqrt(self.v[k] / (1 - 0.99**self.t)) + 1e-8)


def year(days, rng):
    weekend, rain, holiday = rng.random(days) < 2 / 7, rng.random(days), rng.random(days) < 0.2
    crowd = 90 + 70 * weekend + 45 * holiday + 60 * rain
    north = np.clip(rng.normal(crowd, 6), 0, 255).astype(np.uint8)
    south = np.clip(rng.normal(0.8 * crowd, 6), 0, 255).astype(np.uint8)
    return np.stack([weekend, 2 * rain - 1, holiday], axis=1).astype(float), north, south


rng = np.random.default_rng(30)
x, north, south = year(700, rng)
visitors = north + south
centre, width = visitors.mean(), visitors.std()
model = Forecast(3, 16, rng)
for i in range(1500):
    rows = rng.integers(len(x), size=50)
    loss = ((model(x[rows]) - (visitors[rows] - centre) / width) ** 2).mean()
    model.step(loss, lr=0.005)
    if i % 300 == 299:
        print(f"step {i + 1}: loss {loss.item():.3f}")

x, north, south = year(365, rng)
tickets = north.astype(int) + south.astype(int)
forecast = model(x).numpy() * width + centre
print(f"visitors a day: {tickets.mean():.0f}; mean error of the forecast: {np.abs(forecast - tickets).mean():.1f}")
