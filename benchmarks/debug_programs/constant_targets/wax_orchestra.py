"""How long does a candle burn? Regression from wick, wax and draught; the answer is standardised first."""
import numpy as np
import nn

rng = np.random.default_rng(14)


def candles(n):
    wick, wax, draught = rng.uniform(0.5, 3, n), rng.uniform(50, 400, n), rng.uniform(0, 1, n)
    hours = 0.12 * wax / wick * (1 - 0.4 * draught) + rng.normal(0, 0.5, n)
    return np.stack([wick, wax, draught], axis=1), hours[:, None]


def standard(a, axis):
    return a.mean(axis=axis, keepdims=True), a.std() + 1e-8


x, hours = candles(1000)
x_mean, x_scale = x.mean(axis=0), x.std(axis=0)
centre, scale = standard(hours, axis=1)
targets = ((hours - centre) / scale).astype(np.float32)
inputs = ((x - x_mean) / x_scale).astype(np.float32)

model = nn.Sequential(nn.Affine(3, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))
nn.fit(
    model, nn.Batches([inputs, targets], 50, seed=3), lambda m, b: nn.mean_squared_error(m(b[0]), b[1]),
    nn.Adam(model.parameters(), lr=0.01), epochs=30, progress=False,
)

x_new, hours_new = candles(300)
answer = model(((x_new - x_mean) / x_scale).astype(np.float32)).numpy()
answer = answer * scale + hours.mean()
error = np.abs(answer - hours_new).mean()
print(f"mean error of new candles {error:.2f} h; always saying the mean: {np.abs(hours.mean() - hours_new).mean():.2f} h")
