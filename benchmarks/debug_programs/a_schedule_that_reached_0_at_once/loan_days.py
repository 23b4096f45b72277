"""For how many days will a borrowed book stay away? A library's desk wants to know at the time of lending."""

import numpy as np

import nn

GENRES = 6


def loans(count, rng):
    genre = rng.integers(GENRES, size=count)
    pages = rng.gamma(4.0, 80.0, count)
    age = rng.uniform(8, 85, count)
    reserved = rng.random(count) < 0.2
    pace = np.array([0.6, 0.9, 1.1, 1.4, 0.8, 1.9])[genre]
    days = 4 + 0.035 * pages * pace + 6 * (age < 15) - 5 * reserved + rng.normal(0, 1.5, count)
    x = np.column_stack([np.eye(GENRES)[genre], pages / 300, age / 50, age < 15, reserved])
    return x.astype(np.float32), np.clip(days, 1, 60).astype(np.float32)


def network(rng):
    return nn.Sequential(
        nn.Affine(GENRES + 4, 32, rng=rng), np.tanh, nn.Affine(32, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng)
    )


def main(epochs=10, batch_size=32, peak=0.02):
    x, days = loans(1000, np.random.default_rng(20))
    mean, std = days[:750].mean(), days[:750].std()
    y = ((days - mean) / std)[:, None]
    batches = nn.Batches([x[:750], y[:750]], batch_size, seed=4)
    rate = nn.cosine_schedule(peak, steps=epochs, warmup=2)

    def error(model, batch):
        inputs, targets = batch
        return nn.mean_squared_error(model(inputs), targets)

    def validate(model):
        guess = model(x[750:]).numpy()[:, 0] * std + mean
        return {"days": np.abs(guess - days[750:]).mean()}

    model = network(np.random.default_rng(1))
    history = nn.fit(
        model, batches, error, nn.AdamW(model.parameters(), lr=peak), epochs=epochs, schedule=rate,
        clip_norm=1.0, validate=validate, progress=False,
    )
    for epoch, days_off in enumerate(history.metric("days")):
        print(epoch + 1, f"off by {days_off:.2f} days")
    print(f"a constant is off by {np.abs(days[750:] - mean).mean():.2f} days")


if __name__ == "__main__":
    main()
