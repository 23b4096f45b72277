"""The heading of a ferry from three fluxgate sensors that the steel of the hull disturbs. The line runs north, a bit to both sides."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(64)


def voyage(n):
    """Three readings at each moment, and the heading from the GPS compass in turns, 0 to 1."""
    degrees = rng.normal(0, 35, n)
    heel = rng.normal(0, 0.15, n)
    angle = np.radians(degrees)
    bow = np.cos(angle) + 0.25 * np.sin(2 * angle) + 0.3 * heel
    beam = np.sin(angle) + 0.2 * np.cos(angle) + 0.2 * heel
    readings = np.column_stack([bow, beam, heel]) + rng.normal(0, 0.04, (n, 3))
    return readings.astype(np.float32), (degrees % 360 / 360).astype(np.float32)


def turned(found, true):
    """From the true heading to the one that was found, in turns."""
    return found - true


class Compass(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(nn.Affine(3, 32, rng=rng), np.tanh, nn.Affine(32, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))

    def forward(self, readings):
        return self.layers(readings)[:, 0]


def train(model, readings, heading, epochs=14):
    batches = nn.Batches([readings, heading], 50, seed=2)
    return nn.fit(
        model, batches, lambda model, batch: (turned(model(batch[0]), batch[1]) ** 2).mean(),
        nn.Adam(model.parameters(), lr=0.004), epochs=epochs,
        schedule=nn.linear_schedule(0.004, epochs * len(batches), warmup=20), progress=False,
    )


def degrees_off(model, readings, heading):
    with mg.no_grad():
        around = 2 * np.pi * (model(readings).numpy() - heading)
    return np.degrees(np.abs(np.arctan2(np.sin(around), np.cos(around))))


readings, heading = voyage(2000)
mean, std = readings.mean(axis=0), readings.std(axis=0)
later, later_heading = voyage(600)
model = Compass(np.random.default_rng(8))
history = train(model, (readings - mean) / std, heading)
off = degrees_off(model, (later - mean) / std, later_heading)
print(f"loss {history.losses[0]:.4f} -> {np.mean(history.losses[-40:]):.4f}")
print(f"degrees off: {off.mean():.1f} in the mean, {np.quantile(off, 0.9):.1f} for one in ten")
