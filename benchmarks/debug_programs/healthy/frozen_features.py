import numpy as np

import nn

# Random features that stay as they are; only the output layer learns. That is the method.
rng = np.random.default_rng(212)
x = rng.uniform(-3, 3, size=(400, 1)).astype(np.float32)
y = (np.sin(2 * x) + 0.3 * x).astype(np.float32)


class RandomFeatures(nn.Module):
    def __init__(self, features, rng):
        self.random = nn.Affine(1, features, rng=rng)
        self.random.weight.data *= 3
        self.random.bias.data[:] = rng.uniform(-3, 3, features)
        for p in self.random.parameters():
            p.requires_grad = False
        self.out = nn.Affine(features, 1, rng=rng)

    def forward(self, x):
        return self.out(np.cos(self.random(x)))


model = RandomFeatures(60, rng)
optimizer = nn.Adam(model.out.parameters(), lr=0.03)
for epoch in range(200):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch}: {loss.item():.5f}")
