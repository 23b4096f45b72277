import numpy as np

from minigrad import Tensor, relu


class Momentum:
    def __init__(self, params, lr, beta=0.9):
        self.params, self.lr, self.beta = params, lr, beta
        self.v = [np.zeros_like(p.data) for p in params]

    def step(self):
        for p, v in zip(self.params, self.v):
            v *= self.beta
            v += p.grad.numpy()
            p.data -= self.lr * v

    def zero_grad(self):
        for p in self.params:
            p.grad = None


class Layer:
    def __init__(self, a, b, rng):
        self.W = Tensor(rng.normal(0, np.sqrt(2 / a), (a, b)), requires_grad=True)
        self.b = Tensor(np.zeros(b), requires_grad=True)

    def __call__(self, x):
        return x @ self.W + self.b


rng = np.random.default_rng(227)
x = rng.uniform(-1, 1, (300, 3))
y = np.abs(x[:, :1]) - x[:, 1:2] * x[:, 2:]
a, b, c = Layer(3, 24, rng), Layer(24, 24, rng), Layer(24, 1, rng)
opt = Momentum([p for layer in (a, b, c) for p in (layer.W, layer.b)], lr=0.01)
for epoch in range(300):
    loss = ((c(relu(b(relu(a(x))))) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 30 == 0:
        print(f"epoch {epoch}: {loss.item():.5f}")
