import numpy as np

import nn

rng = np.random.default_rng(202)
label = np.repeat([0, 1, 2], 150)
r = np.tile(np.linspace(0.05, 1, 150), 3)
angle = 4 * r + 2 * np.pi * label / 3 + 0.1 * rng.normal(size=450)
points = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1).astype(np.float32)


class Net(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(2, 48, rng=rng)
        self.b = nn.Affine(48, 48, rng=rng)
        self.c = nn.Affine(48, 3, rng=rng)

    def forward(self, x):
        return self.c(np.tanh(self.b(np.tanh(self.a(x)))))


model = Net(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    order = rng.permutation(450)
    for rows in np.split(order, 9):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(points[rows]), label[rows])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        accuracy = (model(points).numpy().argmax(axis=1) == label).mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
