"""How much does a glacier melt? Sun, snow, dust and height."""

import numpy as np

import nn

rng = np.random.default_rng(79)
x = rng.normal(size=(400, 4)).astype(np.float32)
melt = (2.0 * x[:, 0] - 1.5 * x[:, 1] + x[:, 2] * (x[:, 3] > 0) + 0.1 * rng.normal(size=400)).astype(np.float32)

model = nn.Sequential(nn.Affine(4, 32, rng=rng), np.tanh, nn.Affine(32, 1, rng=rng))
optimizer = nn.SGD(model.parameters(), lr=0.05, weight_decay=0.9)
for epoch in range(40):
    errors = []
    for rows in np.array_split(rng.permutation(400), 10):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x[rows])[:, 0], melt[rows])
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: {np.mean(errors):.4f}")
