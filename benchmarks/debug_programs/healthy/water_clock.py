"""How much time has run from a water clock? The network gives a time and how sure it is of it."""

import numpy as np

import minigrad as mg
import nn


class Clock(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(3, 32, rng=rng), np.tanh, nn.Affine(32, 32, rng=rng), np.tanh)
        self.time = nn.Affine(32, 1, rng=rng)
        self.spread = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        h = self.body(x)
        return self.time(h)[:, 0], self.spread(h)[:, 0]


def surprise(model, batch):
    """Minus the log of the normal density of the true time. The second output is the log of the standard deviation."""
    x, hours = batch
    middle, log_spread = model(x)
    log_spread = 3.0 * np.tanh(log_spread / 3.0)                # never narrower than e^-3, five percent of an hour
    return (0.5 * ((hours - middle) / np.exp(log_spread)) ** 2 + log_spread + 0.5 * np.log(2 * np.pi)).mean()


def readings(count, rng):
    level = rng.uniform(0.1, 1.0, count)
    warmth = rng.normal(0, 1, count)
    scale = rng.normal(0, 1, count)                             # lime in the hole
    hours = 2.0 * (1 - np.sqrt(level)) * (1 - 0.06 * warmth + 0.08 * scale)
    hours += rng.normal(size=count) * (0.055 + 0.08 * (1 - level))              # drops are rarer at a low level
    return np.column_stack([(level - 0.55) / 0.26, warmth, scale]).astype(np.float32), hours.astype(np.float32)


x, hours = readings(2000, np.random.default_rng(16))
model = Clock(np.random.default_rng(1))
batches = nn.Batches([x[:1600], hours[:1600]], 64, seed=2)
history = nn.fit(
    model, batches, surprise, nn.Adam(model.parameters(), lr=0.005), epochs=12, clip_norm=5.0,
    schedule=nn.linear_schedule(0.005, 12 * len(batches), warmup=10),
    validate=lambda model: {"new": surprise(model, (x[1600:], hours[1600:])).item()}, progress=False,
)
print(f"surprise {history.losses[0]:.2f} ... {np.mean(history.losses[-25:]):.2f}, on new readings {history.metric('new')[-1]:.2f}")
with mg.no_grad():
    middle, log_spread = model(x[1600:])
print(f"off by {np.abs(middle.numpy() - hours[1600:]).mean():.3f} hours")
