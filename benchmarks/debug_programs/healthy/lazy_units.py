import numpy as np
import minigrad as mg
import nn
from minigrad import Tensor

# A wide ReLU layer on a curve; many of its units are off for every point.
rng = np.random.default_rng(117)
x = rng.uniform(0, 1, (100, 1))
y = np.sin(6 * x) + 0.05 * rng.normal(size=(100, 1))
UNITS = 200

knots = rng.uniform(-1.0, 2.0, UNITS)
W = Tensor(np.sign(rng.normal(size=(1, UNITS))) * 3.0, requires_grad=True)
b = Tensor(-knots * W.numpy()[0], requires_grad=True)
V = Tensor(rng.normal(0, 0.05, (UNITS, 1)), requires_grad=True)
c = Tensor(np.zeros(1), requires_grad=True)


def curve(t):
    return mg.relu(t @ W + b) @ V + c


optimizer = nn.Adam([W, b, V, c], lr=0.003)
for epoch in range(600):
    loss = ((curve(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 120 == 0:
        print(epoch, round(loss.item(), 5))

idle = ((x @ W.numpy() + b.numpy()) <= 0).all(axis=0).mean()
print("end", round(loss.item(), 5), "idle", round(float(idle), 2))
