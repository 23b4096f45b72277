"""A GRU adds two marked numbers; the gradient is clipped when it is unusually large."""

import numpy as np

import nn

rng = np.random.default_rng(209)
gru, out = nn.GRU(2, 24, rng=rng), nn.Affine(24, 1, rng=rng)
parameters = [*gru.parameters(), *out.parameters()]
optimizer = nn.Adam(parameters, lr=0.01)
clipped = 0
for step in range(400):
    x = np.zeros((32, 8, 2), np.float32)
    x[..., 0] = rng.random((32, 8))
    first, second = rng.integers(0, 4, 32), rng.integers(4, 8, 32)
    x[np.arange(32), first, 1] = x[np.arange(32), second, 1] = 1
    target = (x[..., 0] * x[..., 1]).sum(axis=1, keepdims=True)
    _, last = gru(x)
    loss = nn.mean_squared_error(out(last), target)
    optimizer.zero_grad()
    loss.backward()
    clipped += nn.clip_grad_norm(parameters, 2.0) > 2.0
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
print("clipped in", clipped, "of 400 steps")
