# How far does a glaze run down the test tile? From seven oxides, with a table of which oxide matters.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(8)
OXIDES = ["SiO2", "Al2O3", "CaO", "MgO", "K2O", "Na2O", "B2O3"]
share = rng.dirichlet([12.0, 3.0, 3.0, 1.5, 1.5, 1.5, 2.0], size=480)
flux = share[:, 4] + 1.2 * share[:, 5] + 1.6 * share[:, 6] + 0.5 * share[:, 2]
run = 60 * flux / (share[:, 0] + 2.0 * share[:, 1]) - 15 * share[:, 3] + rng.normal(0, 0.8, 480)    # millimetres

mean, std = share[:360].mean(axis=0), share[:360].std(axis=0)
oxides = (share - mean) / std
target = (run - run[:360].mean()) / run[:360].std()

hidden = 20
W1 = mg.Tensor(rng.normal(size=(7, hidden)) * 7**-0.5, requires_grad=True, name="W1")
b1 = mg.Tensor(np.zeros(hidden), requires_grad=True, name="b1")
W2 = mg.Tensor(rng.normal(size=(hidden, 1)) * hidden**-0.5, requires_grad=True, name="W2")
b2 = mg.Tensor(np.zeros(1), requires_grad=True, name="b2")
weights = [W1, b1, W2, b2]


def network(x):
    return (np.tanh(x @ W1 + b1) @ W2 + b2)[:, 0]


def influence(x):
    """Mean size of the derivative of the prediction, by oxide."""
    probe = mg.Tensor(x, requires_grad=True)
    network(probe).sum().backward()
    return np.abs(probe.grad.numpy()).mean(axis=0)


seen = np.zeros(7)
for step in range(300):
    rows = rng.integers(0, 360, 60)
    for w in weights:
        w.zero_grad()
    loss = ((network(oxides[rows]) - target[rows]) ** 2).mean()
    loss.backward()
    seen = 0.95 * seen + 0.05 * influence(oxides[rows])
    for w in weights:
        w.data -= 0.05 * w.grad
    if step % 100 == 99:
        print(step + 1, f"{loss.item():.3f}")

with mg.no_grad():
    error = network(oxides[360:]).numpy() - target[360:]
print("influence:", ", ".join(f"{name} {size:.2f}" for name, size in zip(OXIDES, seen)))
print(f"mean squared error on new tiles {np.mean(error**2):.3f} (1 for a constant)")
