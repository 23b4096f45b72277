import numpy as np
import minigrad as mg
import nn

# Bees at a hive entrance per hour, as a Poisson rate of temperature, wind and the hour of the day.
rng = np.random.default_rng(23)
n = 240
temperature, wind, hour = rng.uniform(5, 32, n), rng.gamma(2, 2, n), rng.uniform(6, 20, n)
rate = np.exp(1.0 + 1.2 * np.exp(-((temperature - 24) / 6) ** 2) - 0.15 * wind + 0.5 * np.sin(np.pi * (hour - 6) / 14))
bees = rng.poisson(rate).astype(np.float32)
X = np.stack([(temperature - 18) / 8, (wind - 4) / 3, (hour - 13) / 4], axis=1).astype(np.float32)


class Momentum:
    def __init__(self, parameters, lr, beta):
        self.parameters, self.lr, self.beta = list(parameters), lr, beta
        self.speed = [np.zeros_like(p.data) for p in self.parameters]

    def step(self):
        for p, v in zip(self.parameters, self.speed):
            v *= self.beta
            v -= self.lr * p.grad.numpy()
            p.data += v


net = nn.Sequential(nn.Affine(3, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
updates = Momentum(net.parameters(), lr=0.01, beta=0.8)


def deviance(x, y):
    z = np.clip(net(x)[:, 0], -8, 8)
    return (np.exp(z) - y * z).mean()


for epoch in range(60):
    order = rng.permutation(200)
    for rows in np.split(order, 5):
        loss = deviance(X[rows], bees[rows])
        loss.backward()
        updates.step()
    if epoch % 10 == 0:
        print(epoch, round(loss.item(), 3))

with mg.no_grad():
    print("held-out", round(deviance(X[200:], bees[200:]).item(), 3))
    best = rate[200:] - bees[200:] * np.log(rate[200:])
    print("with the true rate", best.mean().round(3))
