"""How many meteors in an hour? Mostly none: a rate for each hour, fitted to rare counts."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(83)


def night(hours):
    sky = rng.uniform(-1, 1, (hours, 3))
    rate = np.exp(-2.5 + 2.0 * sky[:, 0] - 1.5 * sky[:, 1] ** 2)
    return sky, rng.poisson(rate).astype(float), rate


def tensor(array):
    return mg.Tensor(array, requires_grad=True)


hidden, shift = tensor(rng.standard_normal((3, 12)) * 0.6), tensor(np.zeros(12))
out, level = tensor(rng.standard_normal(12) * 0.2), tensor(0.0)
parts = [hidden, shift, out, level]


def log_rate(sky):
    return np.tanh(sky @ hidden + shift) @ out + level


sky, count, rate = night(3000)
print(f"hours without a meteor: {np.mean(count == 0):.2f}, mean count {count.mean():.3f}")
speed = [np.zeros(p.shape) for p in parts]
for step in range(900):
    rows = rng.integers(0, 3000, 200)
    z = log_rate(sky[rows])
    loss = (np.exp(z) - count[rows] * z).mean()
    loss.backward()
    for i, p in enumerate(parts):
        speed[i] = 0.9 * speed[i] - 0.05 * p.grad.numpy()
        p.data += speed[i]
        p.zero_grad()
    if step % 300 == 0:
        print(f"step {step}: {loss.item():.3f}")
new_sky, new_count, new_rate = night(1000)
with mg.no_grad():
    guess = np.exp(log_rate(new_sky).numpy())
print(f"correlation of log rates {np.corrcoef(np.log(guess), np.log(new_rate))[0, 1]:.3f}, total {guess.sum():.0f} of {new_rate.sum():.0f}")
