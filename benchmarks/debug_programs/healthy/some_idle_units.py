# A ReLU network some of whose units never fire; most do, and it learns well.
import numpy as np

import nn
from minigrad import Tensor, relu

rng = np.random.default_rng(219)
x = rng.uniform(0, 1, size=(300, 2))
y = np.sin(4 * x[:, :1]) + x[:, 1:] ** 2
W1 = Tensor(rng.normal(0, 1.2, (2, 40)), requires_grad=True)
b1 = Tensor(rng.normal(0.4, 0.6, 40), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.2, (40, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)
optimizer = nn.Adam([W1, b1, W2, b2], lr=0.01)
for epoch in range(500):
    h = relu(x @ W1 + b1)
    loss = ((h @ W2 + b2 - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(f"epoch {epoch}: loss {loss.item():.5f}, units that never fire {(h.numpy().max(axis=0) == 0).mean():.2f}")
