# Three kinds of flowers, four measurements. From scratch.
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(81)
centre = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
share = np.array([20, 40, 90])
kind = rng.permutation(np.repeat([0, 1, 2], share))
x = centre[kind] + rng.normal(0, 0.35, size=(150, 4))
x = (x - x.mean(axis=0)) / x.std(axis=0)


def softmax(z):
    e = np.exp(z - z.data.max())
    return e / e.sum(axis=0, keepdims=True)


W = Tensor(np.zeros((4, 3)), requires_grad=True)
b = Tensor(np.zeros(3), requires_grad=True)
for epoch in range(300):
    p = softmax(x @ W + b)
    loss = -np.log(p[np.arange(150), kind] + 1e-9).mean()
    loss.backward()
    for t in (W, b):
        t.data -= 0.3 * t.grad
        t.zero_grad()
    if epoch % 30 == 0:
        accuracy = (p.numpy().argmax(axis=1) == kind).mean()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
