"""District heating: the heat that a town needs in an hour, from weather and calendar. Learned from two years, asked for February."""
import numpy as np
import minigrad as mg
import nn


def weather(hours, season, rng):
    outside = 10 - 11 * np.cos(2 * np.pi * season) + rng.normal(0, 3, hours)
    wind = rng.weibull(2, hours) * 4
    sun = np.clip(rng.normal(0.5 - 0.35 * np.cos(2 * np.pi * season), 0.2, hours), 0, None)
    morning = rng.random(hours) < 0.25
    weekend = rng.random(hours) < 2 / 7
    heat = 4 * np.log1p(np.exp((17 - outside + 0.4 * wind - 3 * sun) / 4)) * (1 + 0.35 * morning * ~weekend) + 3
    rows = np.column_stack([outside, wind, sun, morning, weekend])
    return rows, heat + rng.normal(0, 0.4, hours)


def standardized(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


class Heat(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(nn.Affine(5, 24, rng=rng), np.tanh, nn.Affine(24, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))

    def forward(self, x):
        return self.layers(x)[:, 0]


def main():
    rng = np.random.default_rng(19)
    past, past_heat = weather(2500, rng.random(2500), rng)
    february, february_heat = weather(400, rng.uniform(1 / 12, 2 / 12, 400), rng)
    middle, spread = past_heat.mean(), past_heat.std()
    x_past, x_february = standardized(past), standardized(february)

    model = Heat(np.random.default_rng(6))
    batches = nn.Batches([x_past, (past_heat - middle) / spread], 50, seed=1)

    def validate(model):
        guess = model(x_february).numpy() * spread + middle
        return {"megawatts off": np.abs(guess - february_heat).mean()}

    history = nn.fit(
        model, batches, lambda model, batch: nn.mean_squared_error(model(batch[0]), batch[1].astype(np.float32)),
        nn.Adam(model.parameters(), lr=0.005), epochs=10, schedule=nn.cosine_schedule(0.005, 10 * len(batches)),
        validate=validate, progress=False,
    )
    with mg.no_grad():
        fitted = np.abs(model(x_past).numpy() * spread + middle - past_heat).mean()
    print(f"two years: {fitted:.2f} MW off")
    print(f"February:  {history.metric('megawatts off')[-1]:.2f} MW off")


if __name__ == "__main__":
    main()
