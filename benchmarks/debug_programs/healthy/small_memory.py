"""Four small batches make one step."""

import numpy as np
import nn

rng = np.random.default_rng(105)
images = rng.normal(size=(256, 1, 6, 6)).astype(np.float32)
brighter = (images[:, 0, :3].sum(axis=(1, 2)) > images[:, 0, 3:].sum(axis=(1, 2))).astype(np.int64)

network = nn.Sequential(
    nn.Conv2d(1, 6, 3, rng=rng, padding=1),
    np.tanh,
    nn.Flatten(),
    nn.Affine(216, 2, rng=rng),
)
optimizer = nn.SGD(network.parameters(), lr=0.2, momentum=0.9)
PARTS = 4

for epoch in range(8):
    optimizer.zero_grad()
    seen = []
    for number, (x, y) in enumerate(nn.Batches([images, brighter], 16, seed=6).epoch(epoch)):
        loss = nn.cross_entropy(network(x), y) / PARTS
        loss.backward()
        seen.append(PARTS * loss.item())
        if number % PARTS == PARTS - 1:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, round(float(np.mean(seen)), 4))

guess = network(images).numpy().argmax(axis=1)
print("right", (guess == brighter).mean())
