"""Sorting by attention: for each of six numbers, say its rank."""
import numpy as np
import nn
from minigrad import Tensor, relu, softmax, cross_entropy

rng = np.random.default_rng(12)


def sample(count):
    values = rng.uniform(-1, 1, (count, 6))
    return values[:, :, None], values.argsort(axis=1).argsort(axis=1)


class Head:
    def __init__(self, width):
        self.q = Tensor(rng.normal(size=(width, width)) / width**0.5, requires_grad=True)
        self.k = Tensor(rng.normal(size=(width, width)) / width**0.5, requires_grad=True)
        self.v = Tensor(rng.normal(size=(width, width)) / width**0.5, requires_grad=True)

    def __call__(self, h):
        s = (h @ self.q) @ (h @ self.k).swapaxes(1, 2) / h.shape[-1] ** 0.5
        return softmax(s, axis=0) @ (h @ self.v)


width = 24
first = Tensor(rng.normal(size=(1, width)), requires_grad=True)
shift = Tensor(rng.normal(size=width), requires_grad=True)
head = Head(width)
middle = Tensor(rng.normal(size=(2 * width, 2 * width)) / 7, requires_grad=True)
last = Tensor(rng.normal(size=(2 * width, 6)) / 7, requires_grad=True)
params = [first, shift, head.q, head.k, head.v, middle, last]


def ranks(values):
    h = np.tanh(values @ first + shift)
    both = np.concatenate([h, head(h)], axis=-1)
    return relu(both @ middle) @ last


opt = nn.Adam(params, lr=0.01)
for step in range(400):
    values, order = sample(48)
    loss = cross_entropy(ranks(values), order)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 80 == 0:
        print(step, round(loss.item(), 3))

values, order = sample(500)
print("ranks right:", (ranks(values).numpy().argmax(-1) == order).mean())
