"""Waiting times at a geyser: a mixture of three bells, fitted by gradient descent on the likelihood."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(27)
waits = np.concatenate([rng.normal(40, 3, 120), rng.normal(62, 4, 100), rng.normal(85, 5, 180)])
t = (waits - waits.mean()) / waits.std()
BELLS = 3


class Mixture(nn.Module):
    def __init__(self):
        self.centre = nn.Parameter(np.full(BELLS, np.median(t)))
        self.log_width = nn.Parameter(np.zeros(BELLS))
        self.share = nn.Parameter(np.zeros(BELLS))

    def log_density(self, x):
        z = (x[:, None] - self.centre) / np.exp(self.log_width)
        bell = -0.5 * z ** 2 - self.log_width - 0.5 * np.log(2 * np.pi)
        return mg.logsumexp(bell + mg.log_softmax(self.share), axis=1)


model = Mixture()
optimizer = nn.Adam(model.parameters(), lr=0.03)
for step in range(400):
    batch = rng.choice(t, 100)
    optimizer.zero_grad()
    loss = -model.log_density(batch).mean()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(step, round(loss.item(), 3))

with mg.no_grad():
    print("surprise per wait", round(-model.log_density(t).numpy().mean(), 3))
    print("minutes", (model.centre.numpy() * waits.std() + waits.mean()).round(1))
    print("shares", mg.softmax(model.share).numpy().round(2))
