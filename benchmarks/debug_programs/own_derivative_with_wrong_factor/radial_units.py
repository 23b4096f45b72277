# A network of radial units, with an operation of our own.
import numpy as np

import minigrad as mg

bell = mg.primitive(lambda x: np.exp(-x * x), name="bell").vjp(
    x=lambda g, ans, x: g * 2 * x * ans,
)

rng = np.random.default_rng(170)
x = rng.uniform(-2, 2, size=(300, 1))
y = np.sin(3 * x) * np.exp(-x / 3)

centre = mg.Tensor(rng.uniform(-2, 2, 6), requires_grad=True)
width = mg.Tensor(np.full(6, 0.5), requires_grad=True)
height = mg.Tensor(rng.normal(0, 0.1, (6, 1)), requires_grad=True)
for step in range(800):
    units = bell((x - centre) / width)
    loss = ((units @ height - y) ** 2).mean()
    loss.backward()
    for p in (centre, width, height):
        p.data -= 0.02 * p.grad
        p.zero_grad()
    if step % 80 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
