"""Softmax regression by hand: which of five shops wrote the receipt?"""

import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(21)
amounts = rng.gamma(2.0, 9.0, size=(400, 10)).astype(np.float32)
true = rng.normal(size=(10, 5)).astype(np.float32)
shop = (amounts @ true).argmax(axis=1)


class SoftmaxRegression:
    def __init__(self, inputs, classes):
        self.W = Tensor(np.zeros((inputs, classes), np.float32), requires_grad=True)
        self.b = Tensor(np.zeros(classes, np.float32), requires_grad=True)

    def logits(self, x):
        return x @ self.W + self.b

    def loss(self, x, y):
        z = self.logits(x)
        log_total = np.log(np.exp(z).sum(axis=1))
        return (log_total - z[np.arange(len(y)), y]).mean()


model = SoftmaxRegression(10, 5)
optimizer = nn.Adam([model.W, model.b], lr=0.1)
for epoch in range(120):
    for start in range(0, 400, 50):
        loss = model.loss(amounts[start : start + 50], shop[start : start + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        right = model.logits(amounts).numpy().argmax(axis=1) == shop
        print(f"epoch {epoch:3d}  loss {loss.item():.3f}  accuracy {right.mean():.3f}")
