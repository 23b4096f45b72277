# Logistic regression from scratch: is a message spam, from its word counts?
import numpy as np

import minigrad as mg

rng = np.random.default_rng(3)
words = rng.poisson(2.0, size=(300, 12)).astype(np.float32)
is_spam = (words[:, 0] + words[:, 1] > words[:, 2] + words[:, 3]).astype(np.float32)

w = mg.Tensor(np.zeros(12, dtype=np.float32), requires_grad=True)
b = mg.Tensor(np.float32(0.0), requires_grad=True)

for epoch in range(400):
    z = words @ w + b
    p = 1 / (1 + np.exp(-z))
    loss = -(is_spam * np.log(p) + (1 - is_spam) * np.log(1 - p)).mean()
    loss.backward()
    for t in (w, b):
        t.data -= 0.3 * t.grad
        t.zero_grad()
    if epoch % 40 == 0:
        accuracy = ((p.numpy() > 0.5) == is_spam).mean()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
print("weights", w.numpy().round(2))
