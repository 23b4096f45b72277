"""Embeddings of faces: two pictures of a person close together, another person further away."""
import numpy as np
import nn

rng = np.random.default_rng(13)
people, width = 30, 24
identity = rng.normal(size=(people, width))


def photographs(who):
    return (identity[who] + rng.normal(0, 1.0, (len(who), width))).astype(np.float32)


class Embedder(nn.Module):
    def __init__(self):
        self.one = nn.Affine(width, 32, rng=rng)
        self.two = nn.Affine(32, 8, rng=rng)

    def forward(self, x):
        return self.two(np.maximum(self.one(x), 0.0))


def distance(u, v):
    return ((u - v) ** 2).sum(axis=1)


model = Embedder()
optimizer = nn.Adam(model.parameters(), lr=3e-3)
for step in range(400):
    who = rng.integers(0, people, 64)
    other = (who + rng.integers(1, people, 64)) % people
    anchor, positive, negative = (model(photographs(i)) for i in (who, who, other))
    loss = (distance(anchor, positive) - distance(anchor, negative)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"{step:4d}  {loss.item():12.3f}")

gallery = model(photographs(np.arange(people))).numpy()
who = rng.integers(0, people, 300)
probe = model(photographs(who)).numpy()
nearest = ((probe[:, None] - gallery[None]) ** 2).sum(axis=-1).argmin(axis=1)
print(f"loss {loss.item():.3f}, length of an embedding {np.linalg.norm(gallery, axis=1).mean():.2f}")
print(f"recognised from one photograph: {np.mean(nearest == who):.3f}")
