# A recurrent network by hand that adds up 30 numbers.
import numpy as np

from minigrad import Tensor, relu

rng = np.random.default_rng(0)
hidden = 16
Wx = Tensor(rng.normal(0, 0.3, (1, hidden)), requires_grad=True)
Wh = Tensor(rng.normal(size=(hidden, hidden)), requires_grad=True)
Wy = Tensor(rng.normal(0, 0.3, (hidden, 1)), requires_grad=True)
params = [Wx, Wh, Wy]


def run(x):
    h = np.zeros((len(x), hidden))
    for t in range(x.shape[1]):
        h = relu(x[:, t : t + 1] @ Wx + h @ Wh)
    return h @ Wy


for step in range(200):
    x = rng.random((32, 30)) / 10
    y = x.sum(axis=1, keepdims=True)
    loss = ((run(x) - y) ** 2).mean()
    loss.backward()
    for p in params:
        p.data -= 1e-3 * p.grad
        p.zero_grad()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.4g}")
