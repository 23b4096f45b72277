# RNN by hand: repeat the letter that was read three letters ago.
import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(41)
V, H, T = 5, 20, 9


def weight(*shape, scale):
    return Tensor(scale * rng.normal(size=shape), requires_grad=True)


Wxh = weight(V, H, scale=0.4)
Whh = weight(H, H, scale=0.1)
Why = weight(H, V, scale=0.4)
bh, by = weight(H, scale=0.0), weight(V, scale=0.0)
params = [Wxh, Why, bh, by]
speed = [np.zeros(p.shape) for p in params]

for step in range(350):
    ids = rng.integers(0, V, size=(32, T))
    x = np.eye(V)[ids]
    h = np.zeros((32, H))
    loss = 0.0
    for t in range(T):
        h = np.tanh(x[:, t] @ Wxh + h @ Whh + bh)
        if t >= 3:
            loss = loss + nn.cross_entropy(h @ Why + by, ids[:, t - 3]) / (T - 3)
    loss.backward()
    for v, p in zip(speed, params):
        v *= 0.9
        v += p.grad.numpy()
        p.data -= 0.1 * v
        p.zero_grad()
    if step % 50 == 0:
        print(f"step {step}: {loss.item():.4f} (guessing: {np.log(V):.4f})")
