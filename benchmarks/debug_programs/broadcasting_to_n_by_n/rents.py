import argparse

import numpy as np
import minigrad
import nn


def make_flats(rng, n):
    size = rng.uniform(25, 140, n)
    floor = rng.integers(0, 7, n)
    centre_km = rng.exponential(4.0, n)
    rent = 280 + 11.5 * size - 45 * centre_km + 12 * floor + rng.normal(0, 40, n)
    features = np.stack([size / 100, floor / 5, centre_km / 5], axis=1)
    return features.astype(np.float32), (rent / 1000).astype(np.float32)


class RentNet(nn.Module):
    def __init__(self, hidden, rng):
        self.body = nn.Affine(3, hidden, rng=rng)
        self.head = nn.Affine(hidden, 1, rng=rng)

    def forward(self, x):
        return self.head(minigrad.relu(self.body(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--hidden", type=int, default=32)
    args = parser.parse_args([])

    rng = np.random.default_rng(5)
    x, y = make_flats(rng, 400)
    model = RentNet(args.hidden, rng)
    opt = nn.Adam(model.parameters(), lr=0.01)
    batches = nn.Batches([x, y], 50, seed=1)
    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in batches.epoch(epoch):
            opt.zero_grad()
            residual = model(xb) - yb
            loss = (residual**2).mean()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: {total / len(batches):.4f}")
    guess = model(x).numpy()[:, 0]
    print("mean absolute error in euros:", round(1000 * float(np.abs(guess - y).mean()), 1))


if __name__ == "__main__":
    main()
