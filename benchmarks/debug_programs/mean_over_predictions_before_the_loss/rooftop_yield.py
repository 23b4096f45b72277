import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(21)

# daily yield of a roof from hours of sun, tilt and temperature
hours = rng.uniform(0, 12, 300)
tilt = rng.uniform(0, 1.2, 300)
heat = rng.normal(15, 8, 300)
energy = 0.4 * hours * np.cos(tilt - 0.6) - 0.01 * (heat - 25) + rng.normal(0, 0.05, 300)

inputs = np.column_stack([hours / 6 - 1, tilt / 0.6 - 1, (heat - 15) / 8])
target = energy[:, None]

W1 = Tensor(rng.normal(0, 0.6, (3, 20)), requires_grad=True, name="W1")
b1 = Tensor(np.zeros(20), requires_grad=True, name="b1")
W2 = Tensor(rng.normal(0, 0.2, (20, 1)), requires_grad=True, name="W2")
b2 = Tensor(np.zeros(1), requires_grad=True, name="b2")
weights = [W1, b1, W2, b2]


def forward(x):
    return np.tanh(x @ W1 + b1) @ W2 + b2


for epoch in range(700):
    error = (forward(inputs) - target).mean()
    loss = error**2
    loss.backward()
    for w in weights:
        w.data -= 0.1 * w.grad
        w.zero_grad()
    if epoch % 100 == 0:
        print(f"epoch {epoch:3d}: {loss:.5f}")

predicted = forward(inputs).numpy()
print("explained:", round(1 - np.var(predicted - target) / np.var(target), 3))
