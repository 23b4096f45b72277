"""Thickness of an oxide film in metres: numbers of the size of 1e-7, so losses and gradients are tiny as well."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(9)
hours = rng.uniform(0.2, 6, 220)
kelvin = rng.uniform(1100, 1400, 220)
film = 1e-7 * np.sqrt(hours) * np.exp((kelvin - 1250) / 150) * (1 + 0.01 * rng.normal(size=220))

x = np.stack([(hours - 3) / 1.7, (kelvin - 1250) / 90], axis=1)


class Film:
    UNIT = 1e-7

    def __init__(self, width):
        def t(*shape):
            return mg.Tensor(rng.normal(size=shape) / np.sqrt(shape[0]), requires_grad=True)

        self.a, self.b, self.c = t(2, width), t(width), t(width, width)
        self.d, self.e = t(width), t(width)

    def parameters(self):
        return [self.a, self.b, self.c, self.d, self.e]

    def __call__(self, x):
        h = np.tanh(x @ self.a + self.b)
        h = h + np.tanh(h @ self.c + self.d)
        return self.UNIT * (h @ self.e)


film_net = Film(16)
optimizer = nn.Adam(film_net.parameters(), lr=0.02, eps=1e-24)
for step in range(300):
    rows = rng.integers(0, 170, 34)
    optimizer.zero_grad()
    loss = ((film_net(x[rows]) - film[rows]) ** 2).mean()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, f"{loss.item():.3g}")
with mg.no_grad():
    rest = film_net(x[170:]).numpy() - film[170:]
print("R2", (1 - np.mean(rest ** 2) / film[170:].var()).round(4))
