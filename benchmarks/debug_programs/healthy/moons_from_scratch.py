"""Two half moons, a hidden layer, gradient descent by hand."""

import numpy as np

from minigrad import Tensor, relu

rng = np.random.default_rng(200)
t = rng.uniform(0, np.pi, 300)
upper = rng.random(300) < 0.5
x = np.stack([np.where(upper, np.cos(t), 1 - np.cos(t)), np.where(upper, np.sin(t), 0.5 - np.sin(t))], axis=1)
x += 0.1 * rng.normal(size=x.shape)
y = upper.astype(float)[:, None]

W1 = Tensor(rng.normal(0, 1, (2, 16)), requires_grad=True)
b1 = Tensor(np.zeros(16), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.5, (16, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)
for epoch in range(400):
    z = relu(x @ W1 + b1) @ W2 + b2
    loss = (np.logaddexp(0.0, z) - y * z).mean()
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= 0.5 * p.grad
        p.zero_grad()
    if epoch % 50 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {((z.numpy() > 0) == y).mean():.3f}")
