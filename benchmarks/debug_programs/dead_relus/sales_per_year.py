import numpy as np

from minigrad import Tensor, relu

# Sales of a shop from the year, the month and the price of the main product.
rng = np.random.default_rng(60)
year = rng.integers(1995, 2020, 240)
month = rng.integers(1, 13, 240)
price = rng.uniform(2, 9, 240)
sales = 5 + 0.4 * (year - 2005) + 2 * np.sin(month / 2) - price / 2 + 0.2 * rng.normal(size=240)

x = np.stack([year, month, price], axis=1).astype(float)
y = sales[:, None]

W1 = Tensor(rng.normal(0, 0.03, (3, 20)), requires_grad=True)
b1 = Tensor(np.zeros(20), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.1, (20, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)

for epoch in range(500):
    hidden = relu(x @ W1 + b1)
    loss = ((hidden @ W2 + b2 - y) ** 2).mean()
    for p in (W1, b1, W2, b2):
        p.zero_grad()
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= 0.01 * p.grad
    if epoch % 50 == 0:
        print(f"epoch {epoch:3d}: loss {loss.item():.4f} (variance of the sales {y.var():.2f})")
