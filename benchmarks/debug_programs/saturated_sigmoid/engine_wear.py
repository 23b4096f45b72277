"""Will an engine fail within a month? Hours, oil temperature, pressure and mileage from the log."""
import numpy as np
from minigrad import Tensor, sigmoid


class Layer:
    def __init__(self, n_in, n_out, rng):
        self.w = Tensor(rng.normal(size=(n_in, n_out)) / np.sqrt(n_in), requires_grad=True)
        self.b = Tensor(np.zeros(n_out), requires_grad=True)

    def __call__(self, x):
        return sigmoid(x @ self.w + self.b)


class Network:
    def __init__(self, sizes, rng):
        self.layers = [Layer(a, b, rng) for a, b in zip(sizes, sizes[1:])]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self):
        return [p for layer in self.layers for p in (layer.w, layer.b)]


rng = np.random.default_rng(151)
log = rng.normal([5000, 95, 300, 80000], [1500, 8, 40, 20000], size=(400, 4))
z = (log - [5000, 95, 300, 80000]) / [1500, 8, 40, 20000]
fails = (z[:, 0] + z[:, 1] - z[:, 2] > 0.2).astype(float)[:, None]
inputs = log

net = Network([4, 10, 1], rng)
for epoch in range(800):
    p = net(inputs[:300])
    error = ((p - fails[:300]) ** 2).mean()
    error.backward()
    for w in net.parameters():
        w.data -= 3.0 * w.grad.data
        w.zero_grad()
    if epoch % 160 == 0:
        print("epoch", epoch, "error", round(error.item(), 4))

print("unseen engines right:", np.mean((net(inputs[300:]).numpy() > 0.5) == (fails[300:] > 0.5)))
