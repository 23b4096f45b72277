"""How far does a spring stretch? Fit by plain gradient descent on all measurements at once."""

import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(2)
force = rng.uniform(0, 10, 120)
stretch = 0.35 * force + 0.02 * force**2 + 0.4 + rng.normal(0, 0.05, force.shape)

unit = (force - 5) / 5
train, test = slice(0, 90), slice(90, None)
columns = np.column_stack([np.ones_like(unit), unit, unit**2])

weights = Tensor(np.zeros(3), requires_grad=True)
for step in range(801):
    error = columns[train] @ weights - stretch[train]
    loss = (error * error).mean()
    weights.zero_grad()
    loss.backward()
    weights.data -= 0.2 * weights.grad
    if step % 200 == 0:
        print(f"step {step:3d}  loss {loss.item():.5f}")

a, b, c = weights.numpy()
print(f"stretch = {a:.3f} + {b:.3f} u + {c:.3f} u^2 with u = (force - 5) / 5")
miss = columns[test] @ weights.numpy() - stretch[test]
print(f"error on the other measurements {np.sqrt(np.mean(miss**2)):.3f}")
