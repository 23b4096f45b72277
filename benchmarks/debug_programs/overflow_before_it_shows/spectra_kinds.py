import numpy as np

import nn
from minigrad import Tensor


def normalise(x):
    """Rows of length one, in half precision to save memory."""
    x = x.astype(np.float16)
    length = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return (x / length).astype(np.float32)


rng = np.random.default_rng(2)
kind = rng.integers(0, 3, 360)
direction = rng.normal(size=(3, 20))
spectra = direction[kind] * rng.uniform(50, 400, size=(360, 1)) + rng.normal(0, 15, size=(360, 20))

x = normalise(spectra)
W1 = Tensor(rng.normal(0, 0.3, (20, 24)), requires_grad=True, name="W1")
b1 = Tensor(np.zeros(24), requires_grad=True, name="b1")
W2 = Tensor(rng.normal(0, 0.3, (24, 3)), requires_grad=True, name="W2")
b2 = Tensor(np.zeros(3), requires_grad=True, name="b2")
for epoch in range(150):
    scores = np.tanh(x @ W1 + b1) @ W2 + b2
    loss = nn.cross_entropy(scores, kind)
    loss.backward()
    for p in [W1, b1, W2, b2]:
        p.data -= 0.5 * p.grad
        p.zero_grad()
    if epoch % 25 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))
print("accuracy", (scores.numpy().argmax(axis=1) == kind).mean())
