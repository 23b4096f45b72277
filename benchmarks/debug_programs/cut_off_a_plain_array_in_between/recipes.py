"""Learn vectors of ingredients: does a pair of ingredients occur together?"""
import numpy as np
from minigrad import Tensor, sigmoid

rng = np.random.default_rng(33)
ingredients, kitchens, size = 40, 4, 4
cuisine = rng.integers(0, kitchens, ingredients)


def pairs(n):
    left, right = rng.integers(0, ingredients, (2, n))
    together = rng.random(n) < np.where(cuisine[left] == cuisine[right], 0.95, 0.05)
    return left, right, together.astype(float)


table = Tensor(rng.normal(size=(ingredients, size)), requires_grad=True)
W = Tensor(np.eye(size) + 0.1 * rng.normal(size=(size, size)), requires_grad=True)
bias = Tensor(0.0, requires_grad=True)


def look_up(ids):
    rows = table.numpy()
    return rows[ids]


def probability(left, right):
    a, b = look_up(left), look_up(right)
    return sigmoid(((a @ W) * b).sum(axis=1) + bias)


for step in range(1, 1201):
    left, right, together = pairs(64)
    p = probability(left, right)
    loss = -(together * np.log(p + 1e-9) + (1 - together) * np.log(1 - p + 1e-9)).mean()
    loss.backward()
    for t in (table, W, bias):
        if t.grad is not None:
            t.data -= 0.7 * t.grad
            t.zero_grad()
    if step % 300 == 0:
        print(step, round(loss.item(), 4))

left, right, together = pairs(2000)
print("pairs guessed:", ((probability(left, right).numpy() > 0.5) == together).mean())
