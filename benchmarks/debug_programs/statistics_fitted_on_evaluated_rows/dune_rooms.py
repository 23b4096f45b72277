"""Water use of desert guest rooms from heat, guests and wind: learn from spring, predict summer."""
import numpy as np
import nn


def season(rng, n, warmth):
    heat = warmth + 6 * rng.normal(size=n)
    guests = rng.integers(1, 7, n)
    wind = rng.gamma(2.0, 3.0, n)
    litres = 20 * guests + 4 * np.maximum(heat - 15, 0) + 1.5 * wind + 3 * rng.normal(size=n)
    return np.stack([heat, guests, wind], axis=1), litres


class Scaler:
    def fit(self, x):
        self.middle, self.width = x.mean(axis=0), x.std(axis=0)
        return self

    def __call__(self, x):
        return ((x - self.middle) / self.width).astype(np.float32)


def main():
    rng = np.random.default_rng(52)
    spring, spring_litres = season(rng, 1000, 22.0)
    summer, summer_litres = season(rng, 300, 31.0)
    scaler = Scaler()
    x_train = scaler.fit(spring)(spring)
    x_test = scaler.fit(summer)(summer)
    y = (spring_litres / 100).astype(np.float32)
    model = nn.Sequential(nn.Affine(3, 16, rng=rng), lambda z: np.logaddexp(z, 0), nn.Affine(16, 1, rng=rng))

    def check(model):
        return {"litres": np.abs(100 * model(x_test).numpy()[:, 0] - summer_litres).mean()}

    history = nn.fit(
        model, nn.Batches([x_train, y], 50, seed=0), lambda m, b: nn.mean_squared_error(m(b[0])[:, 0], b[1]),
        nn.Adam(model.parameters(), lr=0.01), epochs=40, validate=check, progress=False,
    )
    print(f"training loss {np.mean(history.losses[-20:]):.4f}; summer off by {history.metric('litres')[-1]:.1f} litres")


main()
