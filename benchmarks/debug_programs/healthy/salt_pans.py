"""Yield of salt pans. The memory is small: eight parts of a batch, one update; the rate rises from nearly nothing."""

import numpy as np

import minigrad as mg
import nn

PARTS, UPDATES, WARMUP, PEAK = 8, 250, 50, 0.01


def pans(count, rng):
    sun, wind, brine = rng.uniform(0, 1, count), rng.gamma(2, 0.5, count), rng.uniform(0.1, 0.3, count)
    salt = 20 * brine * (0.3 + sun) * np.sqrt(0.5 + wind) + rng.normal(0, 0.1, count)
    return np.stack([2 * sun - 1, wind - 1, 10 * brine - 2], axis=1).astype(np.float32), salt.astype(np.float32)


class Pan(nn.Module):
    def __init__(self, rng):
        self.first, self.norm = nn.Affine(3, 32, rng=rng), nn.LayerNorm(32)
        self.last = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        return self.last(mg.gelu(self.norm(self.first(x))))[:, 0]


def rate(update):
    if update < WARMUP:
        return PEAK * 1e-3 ** (1 - (update + 1) / WARMUP)
    return PEAK * (1 - (update - WARMUP) / (UPDATES - WARMUP))


def main():
    rng = np.random.default_rng(12)
    x, salt = pans(1200, rng)
    new_x, new_salt = pans(300, rng)
    level, spread = salt.mean(), salt.std()
    target = (salt - level) / spread
    model = Pan(rng)
    optimizer = nn.Adam(model.parameters(), lr=PEAK)
    for update in range(UPDATES):
        rows = rng.choice(len(x), 80, replace=False)
        optimizer.zero_grad()
        whole = 0.0
        for part in np.split(rows, PARTS):
            loss = nn.mean_squared_error(model(x[part]), target[part]) / PARTS
            loss.backward()
            whole += loss.item()
        optimizer.lr = rate(update)
        optimizer.step()
        if update % 50 == 49:
            print(f"update {update + 1}: rate {optimizer.lr:.5f}, loss {whole:.4f}")
    with mg.no_grad():
        guess = model(new_x).numpy() * spread + level
    print(
        f"mean error {np.abs(guess - new_salt).mean():.3f} t; of the mean pan {np.abs(level - new_salt).mean():.3f} t"
    )


if __name__ == "__main__":
    main()
