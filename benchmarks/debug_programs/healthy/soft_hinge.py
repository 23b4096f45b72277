# A smooth hinge with a derivative of its own, and a margin classifier for apples that uses it.
import numpy as np
import minigrad as mg

WIDTH = 0.25


def _hinge(m, /):
    return np.where(m > WIDTH, 0.0, np.where(m < -WIDTH, -m, (m - WIDTH) ** 2 / (4 * WIDTH)))


def _fall(g, ans, m):
    return g * np.clip((m - WIDTH) / (2 * WIDTH), -1.0, 0.0)


hinge = mg.primitive(_hinge, name="hinge").vjp(m=_fall)

rng = np.random.default_rng(8)
sugar, acid, size = rng.normal(size=(3, 260))
good = np.where(sugar - acid ** 2 + 0.5 * size + 0.2 * rng.normal(size=260) > -0.4, 1.0, -1.0)
apples = np.stack([sugar, acid, size], axis=1)


def parameter(*shape):
    return mg.Tensor(rng.normal(size=shape) / np.sqrt(shape[0]), requires_grad=True)


W, c, v = parameter(3, 20), parameter(20), parameter(20)


def margin(x):
    return np.tanh(x @ W + c) @ v


for step in range(200):
    loss = hinge(good[:200] * margin(apples[:200]) - 0.5).mean()
    loss.backward()
    for p in (W, c, v):
        p.data -= 0.5 * p.grad
        p.zero_grad()
    if step % 40 == 0:
        print(step, round(loss.item(), 4))
with mg.no_grad():
    print("sorted well", np.mean(np.sign(margin(apples[200:]).numpy()) == good[200:]).round(3))
