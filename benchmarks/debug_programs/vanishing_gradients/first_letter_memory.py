# %%
# Which letter did the word begin with? The network reads the whole word and answers at the end.
import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(4)
LETTERS, LENGTH, H = 4, 12, 20


def words(n):
    ids = rng.integers(0, LETTERS, size=(n, LENGTH))
    return np.eye(LETTERS)[ids], ids[:, 0]


# %%
W_in = Tensor(rng.normal(0, 0.5, (LETTERS, H)), requires_grad=True)
W_rec = Tensor(rng.normal(0, 0.05, (H, H)), requires_grad=True)
W_out = Tensor(rng.normal(0, 0.5, (H, LETTERS)), requires_grad=True)
weights = [W_in, W_rec, W_out]

# %%
for step in range(400):
    x, first = words(64)
    h = np.zeros((64, H))
    for t in range(LENGTH):
        h = np.tanh(x[:, t] @ W_in + h @ W_rec)
    loss = nn.cross_entropy(h @ W_out, first)
    loss.backward()
    for w in weights:
        w.data -= 0.5 * w.grad
        w.zero_grad()
    if step % 40 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}  (chance {np.log(LETTERS):.4f})")
