import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(44)

# Stays differ in length, so each patient goes through the network alone.
def record():
    length = rng.integers(4, 12)
    level = rng.normal()
    pulse = 70 + 8 * level + rng.normal(0, 5, length)
    ill = rng.random() < 1 / (1 + np.exp(-2.0 * level))
    beat = (pulse - 70) / 10
    return np.array([beat.mean(), beat.std(), beat[-1] - beat[0], beat.max()]), float(ill)


train, test = [record() for _ in range(400)], [record() for _ in range(300)]
A = Tensor(0.5 * rng.normal(size=(4, 12)), requires_grad=True)
b = Tensor(np.zeros(12), requires_grad=True)
c = Tensor(0.3 * rng.normal(size=12), requires_grad=True)
LOT, RATE = 40, 0.4


def risk(features):
    return np.tanh(features @ A + b) @ c


def cost(z, ill):
    return np.logaddexp(0.0, z) - ill * z


for epoch in range(10):
    order, seen = rng.permutation(400), 0.0
    for lot in order.reshape(-1, LOT):
        for i in lot:
            features, ill = train[i]
            loss = cost(risk(features), ill)
            loss.backward()
            seen += loss.item()
        for t in (A, b, c):
            t.data -= RATE * t.grad
            t.zero_grad()
    if epoch % 2 == 0:
        print(f"epoch {epoch}: mean loss {seen / 400:.4f}")

z = np.array([risk(f).item() for f, _ in test])
ill = np.array([i for _, i in test])
print(f"new patients: loss {cost(z, ill).mean():.4f}, right {np.mean((z > 0) == ill):.3f}")
