"""Binary codes, trained with a straight-through estimator: the derivative is that of the identity on purpose."""

import numpy as np

import minigrad as mg
import nn

binary = mg.primitive(lambda x: np.sign(x), name="binary").vjp(x=lambda g, x: g * (abs(x) < 1))

rng = np.random.default_rng(223)
centre = rng.normal(size=(8, 10))
label = rng.integers(0, 8, 500)
x = centre[label] + 0.3 * rng.normal(size=(500, 10))
W1 = mg.Tensor(rng.normal(0, 0.3, (10, 6)), requires_grad=True)
W2 = mg.Tensor(rng.normal(0, 0.3, (6, 8)), requires_grad=True)
b2 = mg.Tensor(np.zeros(8), requires_grad=True)
optimizer = nn.Adam([W1, W2, b2], lr=0.02)
for step in range(300):
    rows = rng.integers(0, 500, 100)
    logits = binary(x[rows] @ W1) @ W2 + b2
    loss = nn.cross_entropy(logits, label[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
