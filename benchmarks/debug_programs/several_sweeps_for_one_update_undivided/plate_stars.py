"""Tell three kinds of stars by their colours. The pictures are large, so a batch is computed in small portions."""

import numpy as np
from minigrad import Tensor, log_softmax

PORTION, PORTIONS = 16, 24


def stars(n, rng):
    kind = rng.integers(3, size=n)
    warmth = np.array([-1.0, 0.0, 1.0])[kind] + rng.normal(0, 0.35, n)
    bright = rng.normal(0, 1, n)
    filters = [warmth, bright + 0.5 * warmth, warmth**2 - bright, np.sin(2 * warmth) + 0.3 * bright]
    return np.column_stack(filters) + rng.normal(0, 0.1, (n, 4)), kind


class Layer:
    def __init__(self, rows, columns, rng):
        self.w = Tensor(rng.normal(0, rows**-0.5, (rows, columns)), requires_grad=True)
        self.b = Tensor(np.zeros(columns), requires_grad=True)
        self.speed = [np.zeros((rows, columns)), np.zeros(columns)]

    def __call__(self, x):
        return x @ self.w + self.b

    def update(self, rate):
        for speed, t in zip(self.speed, (self.w, self.b)):
            speed *= 0.9
            speed -= rate * t.grad.numpy()
            t.data += speed
            t.zero_grad()


def main():
    rng = np.random.default_rng(31)
    x, kind = stars(3000, rng)
    x_new, kind_new = stars(1000, rng)
    layers = [Layer(4, 32, rng), Layer(32, 32, rng), Layer(32, 3, rng)]

    def network(x):
        h = np.maximum(layers[0](x), 0)
        return layers[2](np.maximum(layers[1](h), 0))

    for update in range(61):
        order = rng.choice(len(x), PORTION * PORTIONS, replace=False)
        total = 0.0
        for rows in order.reshape(PORTIONS, PORTION):
            loss = -log_softmax(network(x[rows]))[np.arange(PORTION), kind[rows]].mean()
            loss.backward()
            total += loss.item() / PORTIONS
        for layer in layers:
            layer.update(0.1)
        if update % 15 == 0:
            print(f"update {update:2d}  loss {total:.3f}")
    guess = network(x_new).numpy().argmax(axis=1)
    print(f"right: {np.mean(guess == kind_new):.3f}")


main()
