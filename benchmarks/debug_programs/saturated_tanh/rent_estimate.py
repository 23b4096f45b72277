import numpy as np

import nn


class Rent(nn.Module):
    """Monthly rent from the size of a flat, its age and its distance to the centre."""

    def __init__(self, rng):
        self.inner = nn.Affine(3, 24, rng=rng)
        self.outer = nn.Affine(24, 1, rng=rng)

    def forward(self, flat):
        h = np.tanh(self.inner(flat))
        return self.outer(h)


rng = np.random.default_rng(6)
metres = rng.uniform(25, 160, 500)
age = rng.uniform(0, 90, 500)
distance = rng.uniform(200, 15000, 500)
rent = 0.2 + metres * 0.009 * (1 + np.exp(-distance / 4000)) - 0.003 * age + rng.normal(0, 0.03, 500)

flats = np.stack([metres, age, distance], axis=1).astype(np.float32)
rent = rent.astype(np.float32)[:, None]

model = Rent(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(60):
    order = rng.permutation(400)
    losses = []
    for rows in np.split(order, 10):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(flats[rows]), rent[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}  {np.mean(losses):.4f}")

test = nn.mean_squared_error(model(flats[400:]), rent[400:]).item()
print(f"unexplained share of the variance: {test / rent[400:].var():.3f}")
