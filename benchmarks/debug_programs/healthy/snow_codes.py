"""Snow crystals as codes of eight bits: an autoencoder whose middle is 0 or 1."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(40)

# rounding has the slope 0, so let the gradient through where the input is between the two values
hard = mg.primitive(lambda x: (x > 0.5).astype(float), name="hard").vjp(x=lambda g, x: g * (np.abs(x - 0.5) < 0.5))

shapes = rng.normal(0, 1, (6, 20))


def crystals(count):
    parts = rng.integers(0, 2, (count, 6))
    return parts @ shapes + rng.normal(0, 0.05, (count, 20))


def new(rows, columns):
    return mg.Tensor(rng.normal(0, rows**-0.5, (rows, columns)), requires_grad=True)


enc, mid, dec, shift = new(20, 40), new(40, 8), new(8, 20), mg.Tensor(np.zeros(20), requires_grad=True)
weights = [enc, mid, dec, shift]
moments = [[np.zeros(w.shape), np.zeros(w.shape)] for w in weights]


def restore(x):
    bits = hard(np.tanh(x @ enc) @ mid * 0.5 + 0.5)
    return bits @ dec + shift


for step in range(1, 1501):
    x = crystals(64)
    loss = np.mean((restore(x) - x) ** 2)
    loss.backward()
    for w, (m, s) in zip(weights, moments):
        g = w.grad.numpy()
        m += 0.1 * (g - m)
        s += 0.01 * (g * g - s)
        w.data = w.data - 0.004 * m / (1 - 0.9**step) / (np.sqrt(s / (1 - 0.99**step)) + 1e-8)
        w.zero_grad()
    if step % 300 == 0:
        print(step, f"{loss.item():.4f}")
x = crystals(500)
print(f"error {np.mean((restore(x).numpy() - x) ** 2):.4f} of a variance of {x.var():.3f}")
