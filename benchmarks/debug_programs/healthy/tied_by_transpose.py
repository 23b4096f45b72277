# An autoencoder with one matrix for both directions.
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(224)
data = rng.normal(size=(300, 4)) @ rng.normal(0, 0.3, (4, 20)) + 0.05 * rng.normal(size=(300, 20))
W = Tensor(rng.normal(0, 0.2, (20, 4)), requires_grad=True)
b = Tensor(np.zeros(20), requires_grad=True)
for epoch in range(300):
    code = data @ W
    loss = ((code @ W.T + b - data) ** 2).sum(axis=1).mean()
    loss.backward()
    for p in (W, b):
        p.data -= 0.05 * p.grad
        p.zero_grad()
    if epoch % 30 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
