# A critic that says how well a robot did, from ten numbers.
import numpy as np

import nn
from minigrad import relu

rng = np.random.default_rng(150)
state = rng.normal(size=(600, 10)).astype(np.float32)
score = (np.abs(state[:, :1]) + state[:, 1:2] * state[:, 2:3]).astype(np.float32)

fc1, fc2, fc3 = nn.Affine(10, 48, rng=rng), nn.Affine(48, 48, rng=rng), nn.Affine(48, 1, rng=rng)
parameters = [p for layer in (fc1, fc2, fc3) for p in layer.parameters()]
optimizer = nn.RMSProp(parameters, lr=0.002)

for epoch in range(25):
    total = 0.0
    for rows in np.split(rng.permutation(600), 12):
        value = fc3(relu(fc2(relu(fc1(state[rows])))))
        loss = nn.mean_squared_error(value, score[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for p in parameters:
            p.data = np.clip(p.data, -0.01, 0.01)
        total += loss.item() / 12
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {total:.4f} (variance {score.var():.4f})")
