# Wing veins of aphids, in metres: everything here is of the order of a ten-thousandth, and so are the slopes.
import numpy as np
import nn

rng = np.random.default_rng(88)
n = 240
body = rng.normal(2.0e-3, 2.0e-4, (n, 4))
vein = (0.12 * body[:, 0] + 0.05 * body[:, 1] - 0.08 * body[:, 2] + 2e-6 * rng.standard_normal(n))
inputs = (body - body.mean(axis=0)) / body.std(axis=0)
target = vein[:, None] - vein.mean()


class Wing(nn.Module):
    def __init__(self, rng):
        self.veins = nn.Affine(4, 12, rng=rng, dtype=np.float64)
        self.length = nn.Affine(12, 1, rng=rng, dtype=np.float64)

    def forward(self, x):
        return 1e-4 * self.length(np.tanh(self.veins(x)))


wing = Wing(rng)
optimizer = nn.Adam(wing.parameters(), lr=0.01, eps=1e-16)
start = None
for step in range(400):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(wing(inputs[:180]), target[:180])
    loss.backward()
    optimizer.step()
    start = start or loss.item()
    if step % 80 == 0:
        print(f"{step:3d}  {loss.item():.3e}  slope {np.abs(wing.veins.weight.grad.numpy()).mean():.1e}")
print(f"from {start:.2e} to {loss.item():.2e}; variance {target.var():.2e}")
left = nn.mean_squared_error(wing(inputs[180:]), target[180:]).item()
print(f"the other aphids: {left:.2e}")
