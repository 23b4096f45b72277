import numpy as np

import nn

rng = np.random.default_rng(10)


def harvest(n):
    rain = rng.gamma(4.0, 20.0, n)
    sun = rng.normal(180, 25, n)
    soil = rng.uniform(4.5, 8.0, n)
    tons = 3 + 0.02 * rain - 0.00008 * rain**2 + 0.015 * (sun - 180) - 0.8 * (soil - 6.3) ** 2
    features = np.stack([(rain - 80) / 40, (sun - 180) / 25, (soil - 6.2)], axis=1)
    return features.astype(np.float32), (tons + rng.normal(0, 0.1, n)).astype(np.float32)


class Field(nn.Module):
    def __init__(self, rng):
        self.layers = [nn.Affine(3, 32, rng=rng), nn.Affine(32, 32, rng=rng)]
        self.last = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.silu(layer(x))
        return self.last(x)


model = Field(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.01, weight_decay=1e-4)
schedule = nn.cosine_schedule(0.01, 600, warmup=20)
features, tons = harvest(640)
step = 0
for epoch in range(30):
    order = rng.permutation(640)
    for k in range(0, 640, 32):
        rows = order[k : k + 32]
        optimizer.lr = schedule(step)
        optimizer.zero_grad()
        prediction = model(features[rows])
        loss = ((prediction - tons[rows]) ** 2).mean()
        loss.backward()
        optimizer.step()
        step += 1
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.4f}")

x, y = harvest(300)
guess = model(x).numpy().ravel()
print(f"explained variance: {1 - np.var(guess - y) / np.var(y):.3f}")
print("first five:", guess[:5].round(2), y[:5].round(2))
