"""House prices, with a small trainer class that has hooks."""

import numpy as np

import nn


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.log = []

    def before_batch(self):
        self.optimizer.zero_grad()
        self.optimizer.step()

    def after_batch(self, loss):
        self.log.append(loss.item())

    def train(self, batches, epochs):
        for epoch in range(epochs):
            for x, y in batches.epoch(epoch):
                self.before_batch()
                loss = nn.mean_squared_error(self.model(x), y)
                loss.backward()
                self.after_batch(loss)
            print(f"epoch {epoch}: {np.mean(self.log[-len(batches) :]):.4f}")


rng = np.random.default_rng(51)
area, rooms, age = rng.normal(110, 35, 500), rng.integers(1, 8, 500), rng.uniform(0, 90, 500)
price = 2.1 * area + 12 * rooms - 0.9 * age + rng.normal(0, 12, 500)
x = np.stack([area, rooms, age], axis=1)
x = ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)
y = ((price - price.mean()) / price.std()).astype(np.float32)[:, None]
model = nn.Affine(3, 1, rng=rng)
Trainer(model, nn.SGD(model.parameters(), lr=0.05, momentum=0.8)).train(nn.Batches([x, y], 50, seed=0), 8)
