"""Yearly heat demand (in MWh) of houses from area, year of construction, insulation and residents."""
import numpy as np
from minigrad import Tensor, relu

rng = np.random.default_rng(1)
n = 256
area = rng.uniform(50, 250, n)
built = rng.integers(1900, 2024, n)
insulation = rng.uniform(2, 30, n)
residents = rng.integers(1, 7, n)
demand = 0.65 * area * (1 + (2024 - built) / 80) / np.sqrt(insulation) + 9 * residents
houses = np.column_stack([area, built, insulation, residents]).astype(float)
houses = (houses - houses.mean(axis=0)) / houses.std(axis=0)
target = demand - demand.mean()

w1 = Tensor(rng.normal(size=(4, 40)) * np.sqrt(2 / 4), requires_grad=True)
b1 = Tensor(np.zeros(40), requires_grad=True)
w2 = Tensor(rng.normal(size=(40, 20)) * np.sqrt(2 / 40), requires_grad=True)
b2 = Tensor(np.zeros(20), requires_grad=True)
w3 = Tensor(rng.normal(size=20) * np.sqrt(2 / 20), requires_grad=True)
b3 = Tensor(0.0, requires_grad=True)


def predict(x):
    h = relu(x @ w1 + b1)
    h = relu(h @ w2 + b2)
    return h @ w3 + b3


def train(epochs, lr):
    for epoch in range(epochs):
        order = rng.permutation(n)
        for i in range(0, n, 32):
            rows = order[i : i + 32]
            loss = ((predict(houses[rows]) - target[rows]) ** 2).mean()
            loss.backward()
            for p in (w1, b1, w2, b2, w3, b3):
                p.data -= lr * p.grad
                p.zero_grad()
        if epoch % 10 == 0:
            print("epoch", epoch, "unexplained", round(loss.item() / target.var(), 4))


train(60, 0.02)
left = ((predict(houses) - target) ** 2).mean().item() / target.var()
print("explained share of the variance", round(1 - left, 3))
