"""Squeeze 10 signals into 2 numbers and unfold them again."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(43)
hidden_cause = rng.uniform(-1, 1, (400, 2))
mixing = rng.normal(0, 1.5, (2, 10))
signals = np.sin(hidden_cause @ mixing) + rng.normal(0, 0.05, (400, 10))


class Layer:
    def __init__(self, inputs, outputs):
        self.W = mg.Tensor(rng.normal(0, inputs**-0.5, (inputs, outputs)), requires_grad=True)
        self.b = mg.Tensor(np.zeros(outputs), requires_grad=True)

    def __call__(self, x):
        return x @ self.W + self.b


class Squeezer:
    def __init__(self):
        self.encoder = [Layer(10, 24), Layer(24, 2)]
        self.decoder = [Layer(2, 24), Layer(24, 10)]

    def weights(self):
        return [w for layer in self.encoder + self.decoder for w in (layer.W, layer.b)]

    def code(self, x):
        return self.encoder[1](np.tanh(self.encoder[0](x)))

    def unfold(self, code):
        return self.decoder[1](np.tanh(self.decoder[0](code)))


model = Squeezer()
speed = [np.zeros(w.shape) for w in model.weights()]
codes = []
for step in range(600):
    rows = rng.integers(0, 300, 50)
    code = model.code(signals[rows])
    codes.append(code.data.std())
    loss = ((model.unfold(code.data) - signals[rows]) ** 2).mean()
    loss.backward()
    for v, w in zip(speed, model.weights(), strict=True):
        if w.grad is not None:
            v *= 0.9
            v += w.grad.numpy()
            w.data -= 0.03 * v
            w.zero_grad()
    if step % 100 == 0:
        print(f"{step:3d}  loss {loss.item():.4f}  spread of the code {codes[-1]:.3f}")

rest = signals[300:]
error = ((model.unfold(model.code(rest)).numpy() - rest) ** 2).mean()
print("new signals", error.round(4), "variance", rest.var().round(4))
