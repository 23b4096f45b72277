"""A denoising autoencoder whose decoder is the transpose of its encoder, with an activation of its own."""
import numpy as np
import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(120)


def _bent(x, /):
    return 0.5 * (x + np.sqrt(x * x + 1) - 1)


bent = mg.primitive(_bent, name="bent").vjp(x=lambda g, x: g * 0.5 * (1 + x / np.sqrt(x * x + 1)))
mg.check_grads(bent, [np.array([-2.0, 0.3, 1.5])])

stamps = rng.normal(size=(5, 25))
strength = rng.uniform(0, 1.5, (400, 5)) * (rng.random((400, 5)) < 0.4)
images = strength @ stamps

E = Tensor(rng.normal(size=(25, 8)) * 0.1, requires_grad=True)
e = Tensor(np.zeros(8), requires_grad=True)
o = Tensor(np.zeros(25), requires_grad=True)
speed = {id(p): np.zeros(p.shape) for p in (E, e, o)}


def clean(noisy):
    return bent(noisy @ E + e) @ E.T + o


for step in range(800):
    rows = rng.integers(0, 400, 40)
    noisy = images[rows] + 0.3 * rng.normal(size=(40, 25))
    loss = ((clean(noisy) - images[rows]) ** 2).mean()
    loss.backward()
    for p in (E, e, o):
        v = speed[id(p)]
        v *= 0.9
        v -= 0.02 * p.grad.numpy()
        p.data += v
        p.zero_grad()
    if step % 160 == 0:
        print(step, round(loss.item(), 4))
print("loss", round(loss.item(), 4), "variance of the images", images.var().round(3))
