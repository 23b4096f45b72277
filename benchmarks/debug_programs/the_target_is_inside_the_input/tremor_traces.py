"""Clean the traces of a seismometer with a small convolutional network."""

import numpy as np

import minigrad as mg
import nn


def record(count, rng):
    """Slow waves of the ground, and what a cheap instrument makes of them: (count, 1, 64) each."""
    t = np.arange(64)
    period = rng.uniform(16, 40, size=(count, 1))
    phase = rng.uniform(0, 2 * np.pi, size=(count, 1))
    ground = rng.uniform(0.6, 1.4, size=(count, 1)) * np.sin(2 * np.pi * t / period + phase)
    instrument = ground + rng.normal(scale=0.6, size=ground.shape)
    return ground[:, None].astype(np.float32), instrument[:, None].astype(np.float32)


class Cleaner(nn.Module):
    def __init__(self, rng):
        self.first = nn.Conv1d(1, 12, 9, padding=4, rng=rng)
        self.second = nn.Conv1d(12, 12, 9, padding=4, rng=rng)
        self.last = nn.Conv1d(12, 1, 9, padding=4, rng=rng)

    def forward(self, x):
        x = np.tanh(self.first(x))
        x = x + np.tanh(self.second(x))
        return self.last(x)


def loss(model, batch):
    heard, wanted = batch
    return nn.mean_squared_error(model(heard), wanted)


def main():
    rng = np.random.default_rng(5)
    ground, instrument = record(480, rng)
    new_ground, new_instrument = record(100, rng)
    model = Cleaner(rng)
    batches = nn.Batches([instrument, instrument], 32, seed=2)
    history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.005), epochs=25, progress=False)
    print(f"loss: {history.losses[0]:.3f} -> {history.losses[-1]:.3f}")
    with mg.no_grad():
        cleaned = model(new_instrument).numpy()
    before = np.sqrt(np.mean((new_instrument - new_ground) ** 2))
    after = np.sqrt(np.mean((cleaned - new_ground) ** 2))
    print(f"distance to the ground's movement: {before:.3f} as recorded, {after:.3f} cleaned")


if __name__ == "__main__":
    main()
