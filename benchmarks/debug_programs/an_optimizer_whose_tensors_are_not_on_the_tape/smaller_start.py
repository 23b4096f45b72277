import numpy as np
from minigrad import Tensor
import nn

rng = np.random.default_rng(16)


class Regressor:
    """sin(3x) + 0.5 cos(7x) from a hidden layer of cosines."""

    def __init__(self, units):
        self.freq = Tensor(rng.normal(0, 4, (1, units)), requires_grad=True)
        self.phase = Tensor(rng.uniform(0, 2 * np.pi, units), requires_grad=True)
        self.out = Tensor(rng.normal(0, 1, (units, 1)), requires_grad=True)
        self.shift = Tensor(np.zeros(1), requires_grad=True)

    def rescale(self, factor):
        for name in ("freq", "phase", "out", "shift"):
            setattr(self, name, Tensor(factor.get(name, 1.0) * getattr(self, name).numpy(), requires_grad=True))
        return self

    @property
    def tensors(self):
        return [self.freq, self.phase, self.out, self.shift]

    def __call__(self, x):
        return np.cos(x @ self.freq + self.phase) @ self.out + self.shift


x = rng.uniform(-1.5, 1.5, (400, 1))
y = np.sin(3 * x) + 0.5 * np.cos(7 * x) + rng.normal(0, 0.05, x.shape)

model = Regressor(40)
optimizer = nn.Adam(model.tensors, lr=0.01)
model.rescale({"out": 0.2})

for epoch in range(30):
    order = rng.permutation(400)
    for start in range(0, 400, 40):
        rows = order[start : start + 40]
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.4f}")

grid = np.linspace(-1.4, 1.4, 141)[:, None]
error = model(grid).numpy() - (np.sin(3 * grid) + 0.5 * np.cos(7 * grid))
print(f"loss {loss.item():.4f}, RMSE on a grid {np.sqrt(np.mean(error**2)):.4f}")
