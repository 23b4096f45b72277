import numpy as np
import nn

rng = np.random.default_rng(109)
x = rng.uniform(-2, 2, (300, 2)).astype(np.float32)
y = (np.sin(2 * x[:, :1]) * np.cos(x[:, 1:])).astype(np.float32)


class Waves(nn.Module):
    """Random cosines, which stay as drawn, and a linear readout that learns."""

    def __init__(self, count, rng):
        self.draw = nn.Affine(2, count, rng=rng)
        self.draw.weight.data[...] = rng.normal(0, 1.5, (2, count))
        self.draw.bias.data[...] = rng.uniform(0, 2 * np.pi, count)
        self.readout = nn.Affine(count, 1, rng=rng)
        for p in self.draw.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.readout(np.cos(self.draw(x)))


def loss(model, batch):
    inputs, targets = batch
    return nn.mean_squared_error(model(inputs), targets)


model = Waves(100, rng)
data = nn.Batches([x, y], 30, seed=2)
history = nn.fit(model, data, loss, nn.Adam(model.readout.parameters(), lr=0.01), epochs=60, progress=False)
for epoch in (0, 5, 20, 59):
    print(epoch, round(float(np.mean(history.losses[10 * epoch : 10 * epoch + 10])), 5))
