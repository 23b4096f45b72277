"""A variational autoencoder for patches of moss, 36 pixels each, by hand with Tensors."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(12)
PIXELS, CODE, HIDDEN = 36, 3, 32
patterns = rng.normal(size=(3, PIXELS))
patches = np.tanh(rng.normal(size=(800, 3)) @ patterns) + 0.1 * rng.normal(size=(800, PIXELS))


def matrix(rows, columns):
    return mg.Tensor(rng.normal(0, 1 / np.sqrt(rows), (rows, columns)), requires_grad=True)


enc, mean_map, spread_map = matrix(PIXELS, HIDDEN), matrix(HIDDEN, CODE), matrix(HIDDEN, CODE)
dec, out = matrix(CODE, HIDDEN), matrix(HIDDEN, PIXELS)
weights = [enc, mean_map, spread_map, dec, out]
state = [(np.zeros(p.shape), np.zeros(p.shape)) for p in weights]


def encode(x):
    h = np.tanh(x @ enc)
    return h @ mean_map, h @ spread_map * 0.5


def decode(z):
    return np.tanh(z @ dec) @ out


for step in range(1, 1201):
    x = patches[rng.integers(0, 700, 64)]
    mu, log_sd = encode(x)
    z = mu + np.exp(log_sd) * rng.normal(size=mu.shape)
    recon = ((decode(z) - x) ** 2).mean(axis=1)
    kl = 0.5 * (mu**2 + np.exp(2 * log_sd) - 2 * log_sd - 1).sum(axis=1)
    (recon + kl).mean().backward()
    for p, (m, v) in zip(weights, state):
        g = p.grad.numpy()
        m += 0.1 * (g - m)
        v += 0.001 * (g * g - v)
        p.data -= 0.004 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        p.zero_grad()

with mg.no_grad():
    mu, _ = encode(patches[700:])
    rest = ((decode(mu).numpy() - patches[700:]) ** 2).mean() / patches[700:].var()
print(f"KL {kl.numpy().mean():.3f}; share of the variance of unseen patches that is lost: {rest:.3f}")
