# Age of oysters from ring counts and shell measures (all counted in whole units by the station).
import numpy as np
import minigrad as mg

rng = np.random.default_rng(30)
n = 1000
rings = rng.poisson(40, n)
width = rng.poisson(120, n)
weight = rng.poisson(300, n)
counted = np.stack([rings, width, weight], axis=1)
age = 10 + 0.09 * (rings - 40) + 0.05 * (width - 120) - 0.03 * (weight - 300) + 0.004 * (rings - 40) * (width - 120) / 2
age = age + rng.normal(0, 0.05, n)

fit_rows, check_rows = slice(0, 800), slice(800, n)
middle, spread = counted[fit_rows].mean(axis=0), counted[fit_rows].std(axis=0)
scaled = np.empty_like(counted)
scaled[:] = (counted - middle) / spread

W = mg.Tensor(rng.normal(0, 0.6, (3, 20)), requires_grad=True)
c = mg.Tensor(np.zeros(20), requires_grad=True)
v = mg.Tensor(rng.normal(0, 0.2, 20), requires_grad=True)
d = mg.Tensor(10.0, requires_grad=True)


def predict(x):
    return np.tanh(x @ W + c) @ v + d


for step in range(1500):
    loss = ((predict(scaled[fit_rows]) - age[fit_rows]) ** 2).mean()
    loss.backward()
    for p in (W, c, v, d):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if step % 300 == 299:
        with mg.no_grad():
            off = np.abs(predict(scaled[check_rows]).numpy() - age[check_rows]).mean()
        print(f"{step + 1:5d} loss {loss.item():.4f}, off by {off:.3f} years")
