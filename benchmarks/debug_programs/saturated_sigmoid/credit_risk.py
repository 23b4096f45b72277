# Does a customer pay back? A network with one hidden layer of sigmoids.
import numpy as np

from minigrad import Tensor, sigmoid

rng = np.random.default_rng(70)
income = rng.lognormal(10.3, 0.5, 500)
debt = rng.uniform(0, 40000, 500)
pays = (income - 0.9 * debt + 6000 * rng.normal(size=500) > 12000).astype(float)[:, None]
x = np.stack([income, debt], axis=1)

W1 = Tensor(rng.normal(size=(2, 12)), requires_grad=True)
b1 = Tensor(np.zeros(12), requires_grad=True)
W2 = Tensor(rng.normal(size=(12, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)
params = [W1, b1, W2, b2]

for epoch in range(500):
    h = sigmoid(x @ W1 + b1)
    z = h @ W2 + b2
    loss = (np.logaddexp(0.0, z) - pays * z).mean()
    loss.backward()
    for p in params:
        p.data -= 0.5 * p.grad
        p.grad = None
    if epoch % 50 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {((z.numpy() > 0) == pays).mean():.3f}")
