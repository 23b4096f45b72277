"""Tell apart five bird calls from 16 spectral bands."""
import numpy as np
import minigrad as mg

BANDS, BIRDS = 16, 5
world = np.random.default_rng(100)
songs = world.normal(size=(BIRDS, BANDS))
bird = world.integers(0, BIRDS, 1200)
spectrum = songs[bird] * world.uniform(0.5, 1.5, (1200, 1)) + 1.1 * world.normal(size=(1200, BANDS))


def sample(size, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 1000, size)
    return spectrum[rows], bird[rows]


def forward(theta, x):
    for w, b in theta[:-1]:
        x = mg.relu(x @ w + b)
    w, b = theta[-1]
    return x @ w + b


def loss(theta, x, y):
    return mg.cross_entropy(forward(theta, x), y)


init = np.random.default_rng(1)
theta = [(init.normal(size=(m, n)) * np.sqrt(2 / m), np.zeros(n)) for m, n in [(BANDS, 32), (32, BIRDS)]]
gradient = mg.value_and_grad(loss)
for step in range(500):
    x, y = sample(10)
    value, slopes = gradient(theta, x, y)
    theta = mg.tree_map(lambda p, s: p - 0.05 * s, theta, slopes)
    if step % 100 == 99:
        print("step", step + 1, "loss", round(float(value), 4))

heldout = np.argmax(forward(theta, spectrum[1000:]), axis=1) == bird[1000:]
print("held-out accuracy", heldout.mean().round(3))
