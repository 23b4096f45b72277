"""Predict the delay of a ferry from wind, swell and passengers."""
import numpy as np
import nn


def make_log(n, seed):
    rng = np.random.default_rng(seed)
    wind, swell, people = rng.gamma(2, 1, n), rng.gamma(1.5, 1, n), rng.random(n)
    delay = 0.8 * wind * swell + 2 * people + rng.normal(0, 0.2, n)
    return np.stack([wind, swell, people], axis=1).astype(np.float32), delay.astype(np.float32)


class Delay(nn.Module):
    def __init__(self, hidden, seed):
        rng = np.random.default_rng(seed)
        self.up = nn.Affine(3, hidden, rng=rng)
        self.down = nn.Affine(hidden, 1, rng=rng)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))[:, 0]


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = nn.Adam(model.parameters(), lr=lr)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.huber_loss(self.model(x), y)
        self.optimizer.step()
        loss.backward()
        return loss.item()


x, y = make_log(600, seed=1)
trainer = Trainer(Delay(24, seed=2), lr=0.01)
rng = np.random.default_rng(3)
for epoch in range(40):
    order = rng.permutation(500)
    losses = [trainer.step(x[i], y[i]) for i in np.split(order, 10)]
    if epoch % 8 == 7:
        print("epoch", epoch + 1, "loss", np.mean(losses).round(3))
print("unseen trips: mean error", np.abs(trainer.model(x[500:]).numpy() - y[500:]).mean().round(3), "minutes x 10")
