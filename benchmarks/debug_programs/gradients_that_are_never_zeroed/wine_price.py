"""The price of wine from its age, sugar, acid and alcohol."""

import numpy as np

import nn

rng = np.random.default_rng(13)
wine = rng.normal(size=(640, 4)).astype(np.float32)
price = (2 * wine[:, 0] - wine[:, 1] * wine[:, 2] + np.abs(wine[:, 3]) + 8).astype(np.float32)[:, None]

model = nn.Sequential(nn.Affine(4, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng))
optimizer = nn.SGD(model.parameters(), lr=0.03)

for epoch in range(20):
    order = rng.permutation(640)
    errors = []
    for start in range(0, 640, 32):
        rows = order[start : start + 32]
        loss = nn.mean_squared_error(model(wine[rows]), price[rows])
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}: squared error {np.mean(errors):.3f}")
