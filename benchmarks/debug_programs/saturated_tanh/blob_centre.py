import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(65)


def blobs(n):
    """8 x 8 pictures of one bright blob, and the place of its centre (in pixels / 8)."""
    centre = rng.uniform(1, 6, size=(n, 2))
    r, c = np.mgrid[0:8, 0:8]
    far = (r - centre[:, :1, None]) ** 2 + (c - centre[:, 1:, None]) ** 2
    return np.rint(255 * np.exp(-far / 3)).reshape(n, 64), centre / 8


pixels, centre = blobs(400)
new_pixels, new_centre = blobs(200)
x = pixels - pixels.mean()
new_x = new_pixels - pixels.mean()

W1 = Tensor(rng.normal(0, 0.2, (64, 40)), requires_grad=True)
b1 = Tensor(np.zeros(40), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.1, (40, 2)), requires_grad=True)
b2 = Tensor(np.full(2, 0.5), requires_grad=True)
optimizer = nn.Adam([W1, b1, W2, b2], lr=0.003)
for epoch in range(150):
    h = np.tanh(x @ W1 + b1)
    loss = ((h @ W2 + b2 - centre) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 15 == 14:
        miss = np.tanh(new_x @ W1.numpy() + b1.numpy()) @ W2.numpy() + b2.numpy() - new_centre
        print(f"epoch {epoch + 1}: loss {loss.item():.5f}, on new pictures {(miss**2).mean():.5f}")
