import numpy as np
import minigrad as mg
import nn

EPOCHS, BATCH, RATE = 60, 20, 0.01


class Curve(nn.Module):
    """The glow of a lantern fish at a depth and an hour."""

    def __init__(self, rng):
        self.a = nn.Affine(2, 32, rng=rng)
        self.b = nn.Affine(32, 32, rng=rng)
        self.c = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        return self.c(np.tanh(self.b(np.tanh(self.a(x)))))[:, 0]


def measurements(rng, n):
    x = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    return x, (np.sin(4 * x[:, 0]) * np.cos(3 * x[:, 1])).astype(np.float32)


def main():
    rng = np.random.default_rng(8)
    x, y = measurements(rng, 500)
    model = Curve(rng)
    optimizer = nn.Adam(model.parameters(), lr=RATE)
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in np.split(rng.permutation(500), 500 // BATCH):
            optimizer.lr = RATE * max(0.0, 1 - step / EPOCHS)
            optimizer.zero_grad()
            loss = nn.mean_squared_error(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            step += 1
            total += loss.item() / (500 // BATCH)
        if epoch % 15 == 0:
            print(f"epoch {epoch:2d}: {total:.4f}")
    x_new, y_new = measurements(rng, 300)
    with mg.no_grad():
        print(f"on new measurements: {nn.mean_squared_error(model(x_new), y_new).item():.4f}")


main()
