import numpy as np

import nn
from minigrad import Tensor, softmax

# A dictionary lookup with attention: find the value that belongs to the query.
rng = np.random.default_rng(75)
d, n_keys = 24, 8
Wq = Tensor(rng.normal(0, 0.5, (d, d)), requires_grad=True)
Wk = Tensor(rng.normal(0, 0.5, (d, d)), requires_grad=True)
optimizer = nn.Adam([Wq, Wk], lr=0.005)
rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]

for step in range(200):
    keys = rng.normal(size=(32, n_keys, d))
    wanted = rng.integers(0, n_keys, 32)
    query = keys[np.arange(32), wanted] @ rotation + 0.1 * rng.normal(size=(32, d))
    values = rng.normal(size=(32, n_keys, 3))
    q = (query @ Wq)[:, None, :]
    k = keys @ Wk
    scores = (q @ k.swapaxes(1, 2)) * np.sqrt(d)
    weights = softmax(scores)
    found = (weights @ values)[:, 0]
    loss = ((found - values[np.arange(32), wanted]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        hit = (weights.numpy()[:, 0].argmax(axis=1) == wanted).mean()
        print(f"step {step}: loss {loss.item():.4f}, found {hit:.2f}")
