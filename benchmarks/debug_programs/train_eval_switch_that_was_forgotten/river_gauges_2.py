import argparse

import numpy as np
import nn
import minigrad as mg


def gauges(rng, n):
    """Water levels of six gauges up the river, in cm, and the level in town one day later."""
    rain = rng.gamma(2.0, 20.0, (n, 1))
    level = 120 + rain * np.linspace(0.6, 1.4, 6) + rng.normal(0, 8, (n, 6))
    town = 0.3 * level[:, 1] + 0.5 * level[:, 4] + 0.002 * (level[:, 5] - 150) ** 2
    return level.astype(np.float32), ((town - 150) / 50)[:, None].astype(np.float32)


class RiverNet(nn.Module):
    def __init__(self, width, rng):
        self.scale = nn.BatchNorm(6)
        self.a = nn.Affine(6, width, rng=rng)
        self.norm = nn.BatchNorm(width)
        self.b = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        return self.b(mg.relu(self.norm(self.a(self.scale(x)))))


def train(net, x, y, epochs):
    opt = nn.Adam(net.parameters(), lr=0.01)
    batches = nn.Batches([x, y], 25, seed=8)
    for epoch in range(epochs):
        for xb, yb in batches.epoch(epoch):
            opt.zero_grad()
            loss = nn.mean_squared_error(net(xb), yb)
            loss.backward()
            opt.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: {loss.item():.4f}")


def forecast(net, x):
    days = [net(x[i : i + 3]).numpy() for i in range(0, len(x), 3)]
    return np.concatenate(days)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--width", type=int, default=24)
    options = parser.parse_args()
    rng = np.random.default_rng(10)
    x, y = gauges(rng, 500)
    season_x, season_y = gauges(rng, 90)
    net = RiverNet(options.width, rng)
    train(net, x, y, options.epochs)
    miss = forecast(net, season_x) - season_y
    print("forecast: mean squared error", round(float((miss**2).mean()), 4))


if __name__ == "__main__":
    main()
