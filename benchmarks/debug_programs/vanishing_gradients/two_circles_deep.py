import numpy as np

import nn
from nn.functional import sigmoid


class Classifier(nn.Module):
    def __init__(self, width, depth, rng):
        self.first = nn.Affine(2, width, rng=rng)
        self.middle = [nn.Affine(width, width, rng=rng) for _ in range(depth)]
        self.last = nn.Affine(width, 2, rng=rng)

    def forward(self, x):
        x = sigmoid(self.first(x))
        for layer in self.middle:
            x = sigmoid(layer(x))
        return self.last(x)


rng = np.random.default_rng(1)
angle = rng.uniform(0, 2 * np.pi, 300)
inside = rng.random(300) < 0.5
radius = np.where(inside, 0.5, 1.2) + rng.normal(0, 0.08, 300)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)
labels = inside.astype(np.int64)

model = Classifier(24, 12, rng)
optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(150):
    optimizer.zero_grad()
    logits = model(points)
    loss = nn.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    if epoch % 15 == 0:
        accuracy = (logits.numpy().argmax(axis=1) == labels).mean()
        print(f"{epoch:4d} loss {loss.item():.4f} accuracy {accuracy:.2f}")
