"""Which party does a district vote for?"""

import numpy as np

import nn


class Net(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(6, 24, rng=rng)
        self.out = nn.Affine(24, 3, rng=rng)

    def forward(self, x):
        return self.out(np.tanh(self.hidden(x)))


def loss(model, batch):
    x, y = batch
    p = nn.functional.softmax(model(x)).mean(axis=0)
    target = nn.functional.one_hot(y, 3).mean(axis=0)
    return -(target * np.log(p)).sum()


rng = np.random.default_rng(131)
district = rng.normal(size=(700, 6)).astype(np.float32)
party = (district @ rng.normal(size=(6, 3)) + 0.3 * rng.normal(size=(700, 3))).argmax(axis=1)
model = Net(rng)
batches = nn.Batches([district[:600], party[:600]], 600, seed=7)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    for batch in batches.epoch(epoch):
        optimizer.zero_grad()
        value = loss(model, batch)
        value.backward()
        optimizer.step()
    if epoch % 15 == 14:
        accuracy = (model(district[600:]).numpy().argmax(axis=1) == party[600:]).mean()
        print(f"epoch {epoch + 1}: loss {value.item():.4f}, accuracy {accuracy:.3f}")
