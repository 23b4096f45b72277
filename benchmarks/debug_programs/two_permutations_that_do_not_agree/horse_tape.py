"""The weight of a horse from a tape measure: girth, length, height, and the breed."""

import numpy as np

import minigrad as mg
import nn

BREEDS = ["cob", "fjord", "thoroughbred", "shire"]


def measure(count, rng):
    breed = rng.integers(len(BREEDS), size=count)
    height = np.array([1.48, 1.42, 1.63, 1.75])[breed] + rng.normal(0, 0.04, count)
    girth = height * np.array([1.22, 1.25, 1.15, 1.27])[breed] + rng.normal(0, 0.06, count)
    length = height * 1.02 + rng.normal(0, 0.05, count)
    weight = girth**2 * length * 88 + 12 * (breed == 3) + rng.normal(0, 12, count)
    return np.column_stack([girth, length, height, np.eye(len(BREEDS))[breed]]), weight


class Stable:
    """Horses to learn from, in a new order for each round."""

    def __init__(self, x, y, size, rng):
        self.parts, self.size, self.rng = [x, y], size, rng

    def round(self):
        for part in self.parts:
            self.rng.shuffle(part)
        x, y = self.parts
        for start in range(0, len(x), self.size):
            yield x[start : start + self.size], y[start : start + self.size]


def main():
    rng = np.random.default_rng(6)
    x, weight = measure(700, rng)
    centre, spread = x[:500].mean(axis=0), x[:500].std(axis=0)
    x = ((x - centre) / spread).astype(np.float32)
    middle, width = weight[:500].mean(), weight[:500].std()
    y = ((weight - middle) / width).astype(np.float32)

    net_rng = np.random.default_rng(1)
    model = nn.Sequential(nn.Affine(7, 24, rng=net_rng), mg.relu, nn.Affine(24, 1, rng=net_rng))
    optimizer = nn.Adam(model.parameters(), lr=0.01)
    stable = Stable(x[:500].copy(), y[:500].copy(), 50, rng)
    for round_ in range(30):
        total = 0.0
        for inputs, targets in stable.round():
            optimizer.zero_grad()
            loss = nn.mean_squared_error(model(inputs)[:, 0], targets)
            loss.backward()
            optimizer.step()
            total += loss.item() / 10
        if round_ % 10 == 9:
            print(round_ + 1, f"{total:.3f}")
    model.eval()
    with mg.no_grad():
        guess = model(x[500:]).numpy()[:, 0] * width + middle
    print(f"off by {np.abs(guess - weight[500:]).mean():.1f} kg; the mean is off by {np.abs(weight[500:] - middle).mean():.1f} kg")


if __name__ == "__main__":
    main()
