"""Prices of electricity on the spot market with their uncertainty: a mean and a width for each hour, by the density of the price."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(97)


def hours(n):
    wind = rng.beta(2, 2, n)
    sun = np.clip(rng.normal(0.3, 0.25, n), 0, 1)
    load = rng.normal(0, 1, n)
    gas = rng.normal(0, 1, n)
    price = 60 - 45 * wind - 25 * sun + 9 * load + 8 * gas * (1 - wind)
    width = 0.8 + 3.5 * np.clip(load, 0, None) * (1 - wind)
    return np.column_stack([wind, sun, load, gas]), price + width * rng.normal(size=n), width


class Prices(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(4, 32, rng=rng), np.tanh, nn.Affine(32, 32, rng=rng), np.tanh)
        self.mean, self.log_width = nn.Affine(32, 1, rng=rng), nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h)[:, 0], self.log_width(h)[:, 0]


def density_loss(model, batch):
    """-log of the normal density, without its constant; a price is noisy, so the width does not go to 0."""
    x, price = batch
    mean, log_width = model(x)
    return (0.5 * ((price - mean) * np.exp(-log_width)) ** 2 + log_width).mean()


x, price, _ = hours(3000)
x_test, price_test, width_test = hours(800)
x_mean, x_std, middle, spread = x.mean(axis=0), x.std(axis=0), price.mean(), price.std()
x, x_test = ((part - x_mean) / x_std for part in (x, x_test))
x, x_test = x.astype(np.float32), x_test.astype(np.float32)
price, price_test = ((p - middle) / spread for p in (price, price_test))
price, price_test = price.astype(np.float32), price_test.astype(np.float32)

model = Prices(np.random.default_rng(9))
batches = nn.Batches([x, price], 60, seed=2)
history = nn.fit(
    model, batches, density_loss, nn.Adam(model.parameters(), lr=0.004), epochs=12, clip_norm=5.0,
    schedule=nn.cosine_schedule(0.004, 12 * len(batches), warmup=25),
    validate=lambda model: {"loss": density_loss(model, (x_test, price_test)).item()}, progress=False,
)
print("loss", f"{history.losses[0]:.3f}", "->", f"{np.mean(history.losses[-50:]):.3f}")
print("test", [round(value, 3) for value in history.metric("loss")[::4]], f"{history.metric('loss')[-1]:.3f}")
with mg.no_grad():
    mean, log_width = (part.numpy() for part in model(x_test))
print(f"widths agree: correlation {np.corrcoef(np.exp(log_width), width_test)[0, 1]:.2f}")
print(f"inside of two widths: {np.mean(np.abs(price_test - mean) < 2 * np.exp(log_width)):.3f}")
