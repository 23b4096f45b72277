"""Will the causeway be flooded at the next high tide?"""
import numpy as np
import nn

rng = np.random.default_rng(8)


def observations(count):
    moon = rng.uniform(0, 2 * np.pi, count)
    wind = rng.normal(0, 1, count)
    pressure = rng.normal(0, 1, count)
    level = 1.3 * np.cos(2 * moon) + 0.9 * wind - 0.7 * pressure + rng.logistic(0, 0.5, count)
    inputs = np.stack([np.cos(moon), np.sin(moon), np.cos(2 * moon), np.sin(2 * moon), wind, pressure], axis=1)
    return inputs.astype(np.float32), (level > 0.4).astype(np.float32)


class Gauge(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(6, 12, rng=rng)
        self.second = nn.Affine(12, 1, rng=rng)

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))[:, 0]


def loss(model, batch):
    inputs, flooded = batch
    return nn.binary_cross_entropy_with_logits(model(inputs), flooded)


def main():
    x, y = observations(600)
    held, truth = observations(400)
    model = Gauge(np.random.default_rng(1))
    everything = nn.Batches([x, y], len(x), seed=0)
    history = nn.fit(model, everything, loss, nn.SGD(model.parameters(), lr=25.0), epochs=300, progress=False)
    right = np.mean((model(held).numpy() > 0) == (truth > 0.5))
    print("losses:", *[f"{value:.3f}" for value in history.losses[-6:]])
    print(f"mean of the last 50: {np.mean(history.losses[-50:]):.3f}")
    print(f"right about {right:.3f} of other tides")


if __name__ == "__main__":
    main()
