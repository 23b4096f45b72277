"""The weight of a beehive from six sensors, and which sensor matters."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(17)
sensors = rng.standard_normal((640, 6)).astype(np.float32)
weight = (np.sin(sensors[:, 0]) + 0.5 * sensors[:, 1] * sensors[:, 2] - 0.8 * sensors[:, 3]).astype(np.float32)[:, None]

hive = nn.Sequential(nn.Affine(6, 32, rng=rng), np.tanh, nn.Affine(32, 1, rng=rng))
optimizer = nn.SGD(hive.parameters(), lr=0.03, momentum=0.5)
influence = np.zeros(6)


def sensitivity(rows):
    """Mean size of the derivative of the prediction with respect to each sensor."""
    x = mg.Tensor(sensors[rows], requires_grad=True)
    hive(x).sum().backward()
    return np.abs(x.grad.numpy()).mean(axis=0)


for step in range(800):
    rows = rng.integers(0, 512, 32)
    optimizer.zero_grad()
    if step % 4 == 0:
        influence = 0.9 * influence + 0.1 * sensitivity(rows)
    loss = nn.mean_squared_error(hive(sensors[rows]), weight[rows])
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"{step:4d} {loss.item():.3f}")

with mg.no_grad():
    error = nn.mean_squared_error(hive(sensors[512:]), weight[512:]).item()
print(f"error on 128 other hives {error:.3f}")
print("influence", influence.round(2))
