import numpy as np
from minigrad import Tensor

# The height of the tide and how sure one can be of it, hour by hour.
rng = np.random.default_rng(13)
hour = rng.uniform(0, 25, 500)
spread = 0.05 + 0.12 * np.sin(np.pi * hour / 25) ** 2
height = np.sin(2 * np.pi * hour / 12.4) + spread * rng.normal(size=500)
order = np.argsort(hour)
hour, height, spread = hour[order], height[order], spread[order]

angle = 2 * np.pi * hour[:, None] / 25
x = np.concatenate([f(k * angle) for k in (1, 2, 3) for f in (np.sin, np.cos)], axis=1)
test = np.arange(500) % 5 == 0


class Head:
    def __init__(self, hidden, bias):
        self.W = Tensor(rng.normal(0, 0.4, (6, hidden)), requires_grad=True)
        self.b = Tensor(np.zeros(hidden), requires_grad=True)
        self.v = Tensor(rng.normal(0, 0.2, hidden), requires_grad=True)
        self.c = Tensor(bias, requires_grad=True)

    def __call__(self, x):
        return np.tanh(x @ self.W + self.b) @ self.v + self.c

    def leaves(self):
        return [self.W, self.b, self.v, self.c]


mean, log_sigma = Head(24, 0.0), Head(12, -0.5)
leaves = mean.leaves() + log_sigma.leaves()
memory = [np.zeros(p.shape) for p in leaves]


def surprise(x, t):
    s = np.clip(log_sigma(x), -4.0, 2.0)
    return (0.5 * ((t - mean(x)) * np.exp(-s)) ** 2 + s).mean()


for step in range(1500):
    rows = rng.choice(np.flatnonzero(~test), 64)
    loss = surprise(x[rows], height[rows])
    loss.backward()
    for p, m in zip(leaves, memory):
        m *= 0.9
        m += np.clip(p.grad.numpy(), -1, 1)
        p.data -= 0.005 * m
        p.zero_grad()
    if step % 300 == 0:
        print(f"step {step:4d}  surprise {loss.item():+.3f}")

sigma = np.exp(log_sigma(x[test]).numpy())
print(f"unseen hours: surprise {surprise(x[test], height[test]).item():+.3f}, RMSE {np.sqrt(np.mean((mean(x[test]).numpy() - height[test]) ** 2)):.3f}")
print(f"correlation of the stated and the true spread {np.corrcoef(sigma, spread[test])[0, 1]:.3f}")
