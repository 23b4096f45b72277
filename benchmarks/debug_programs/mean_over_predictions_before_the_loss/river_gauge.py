import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(45)
upstream = rng.normal(size=(200, 4))
gauge = upstream @ np.array([0.5, -1.0, 2.0, 0.0]) + 1.5


class Gauge:
    def __init__(self, inputs, hidden):
        self.A = Tensor(rng.normal(0, 0.5, (inputs, hidden)), requires_grad=True)
        self.a = Tensor(np.zeros(hidden), requires_grad=True)
        self.B = Tensor(rng.normal(0, 0.3, hidden), requires_grad=True)
        self.b = Tensor(0.0, requires_grad=True)

    def __call__(self, x):
        return np.tanh(x @ self.A + self.a) @ self.B + self.b

    def step(self, rate):
        for p in (self.A, self.a, self.B, self.b):
            p.data -= rate * p.grad
            p.zero_grad()


net = Gauge(4, 12)
for epoch in range(800):
    prediction = net(upstream)
    loss = (prediction.mean() - gauge.mean()) ** 2
    loss.backward()
    net.step(0.05)
    if epoch % 200 == 199:
        error = np.abs(net(upstream).numpy() - gauge).mean()
        print(f"{epoch + 1}: loss {loss.item():.6f}, mean absolute error {error:.3f}")
