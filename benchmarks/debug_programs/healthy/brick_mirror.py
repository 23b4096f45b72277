import numpy as np
import minigrad as mg

# Kiln pictures, squeezed into four numbers and back. The picture is input and target; its bytes become floats first.
# Four parts of a batch are added up for one update, each with a quarter of the weight.
rng = np.random.default_rng(101)
hot = rng.uniform(-1, 1, (900, 3))
grid = np.stack(np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8)), axis=-1).reshape(64, 2)
glow = np.exp(-((grid[None] - hot[:, None, :2]) ** 2).sum(axis=-1) * 2) * (1.2 + hot[:, 2:]) / 2.2
kiln = np.clip(255 * glow + rng.normal(0, 6, glow.shape), 0, 255).astype(np.uint8)
order = rng.permutation(len(kiln))
kiln, hot = kiln[order], hot[order]
pixels = kiln.astype(np.float32) / 255
pixels = pixels - pixels[:800].mean(axis=0)


def weight(a, b):
    return mg.Tensor(rng.normal(0, 1 / np.sqrt(a), (a, b)), requires_grad=True)


squeeze, narrow, widen, paint = weights = [weight(64, 32), weight(32, 4), weight(4, 32), weight(32, 64)]
first, second = ([np.zeros(w.shape) for w in weights] for _ in range(2))


def through(x):
    code = np.tanh(x @ squeeze) @ narrow
    return np.tanh(code @ widen) @ paint


for step in range(1, 501):
    for rows in rng.integers(0, 800, (4, 24)):
        part = ((through(pixels[rows]) - pixels[rows]) ** 2).sum(axis=1).mean() / 4
        part.backward()
    for w, m, v in zip(weights, first, second):
        g = w.grad.numpy()
        m += 0.1 * (g - m)
        v += 0.01 * (g * g - v)
        w.data -= 0.005 * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
        w.zero_grad()
    if step % 100 == 0:
        with mg.no_grad():
            lost = ((through(pixels[800:]).numpy() - pixels[800:]) ** 2).mean() / pixels[800:].var()
        print(f"{step}: {4 * part.item():.3f}, lost of unseen pictures {lost:.3f}")
