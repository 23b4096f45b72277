# A polynomial of degree 9 with weight decay.
import numpy as np

import nn

rng = np.random.default_rng(208)
x = np.sort(rng.uniform(-1, 1, 60))
y = np.sin(3 * x) + 0.1 * rng.normal(size=60)
powers = np.stack([x**k for k in range(10)], axis=1)
w = nn.Parameter(np.zeros(10))
optimizer = nn.AdamW([w], lr=0.05, weight_decay=0.05)
for step in range(400):
    optimizer.zero_grad()
    loss = ((powers @ w - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: {loss.item():.4f}, largest weight {np.abs(w.numpy()).max():.2f}")
