"""A wide ReLU layer places a mouse by the delays at two ears. Many units stay silent, and the rest do the work."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(5)
angle = rng.uniform(-1.2, 1.2, 256)
delay = np.column_stack([np.sin(angle), np.sin(2 * angle) / 2]) + 0.02 * rng.normal(size=(256, 2))

HIDDEN = 80
W1 = mg.Tensor(rng.normal(0, 0.8, (2, HIDDEN)), requires_grad=True)
b1 = mg.Tensor(rng.normal(-0.4, 0.5, HIDDEN), requires_grad=True)
W2 = mg.Tensor(rng.normal(0, 0.15, HIDDEN), requires_grad=True)
b2 = mg.Tensor(0.0, requires_grad=True)
ear = (W1, b1, W2, b2)

for step in range(500):
    spikes = mg.relu(delay @ W1 + b1)
    miss = spikes @ W2 + b2 - angle
    loss = (miss ** 2).mean()
    loss.backward()
    for p in ear:
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if step % 100 == 0:
        print(f"{step:4d}  loss {loss.item():.5f}  silent {(spikes.numpy().max(axis=0) == 0).sum()} of {HIDDEN}")
print(f"last loss {loss.item():.5f}, miss {np.degrees(np.abs(miss.numpy()).mean()):.1f} degrees")
