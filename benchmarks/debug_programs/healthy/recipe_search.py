"""A list of ingredients and the title of the recipe should meet in one space."""
import numpy as np
import nn

rng = np.random.default_rng(7)
DISHES = 1200
taste = rng.normal(size=(DISHES, 8))
ingredients = np.maximum(taste @ rng.normal(size=(8, 40)) + rng.normal(0, 0.4, (DISHES, 40)), 0).astype(np.float32)
titles = (np.tanh(taste @ rng.normal(size=(8, 24)) / 2) + rng.normal(0, 0.15, (DISHES, 24))).astype(np.float32)


class Tower(nn.Module):
    def __init__(self, width):
        self.up = nn.Affine(width, 64, rng=rng)
        self.down = nn.Affine(64, 16, rng=rng)

    def forward(self, x):
        v = self.down(np.maximum(self.up(x), 0.0))
        return v / np.sqrt((v * v).sum(axis=1, keepdims=True) + 1e-6)


class Search(nn.Module):
    def __init__(self):
        self.left, self.right = Tower(40), Tower(24)
        self.log_scale = nn.Parameter(np.array(np.log(8.0), dtype=np.float32))

    def forward(self, a, b):
        return (self.left(a) @ self.right(b).T) * np.exp(self.log_scale)


model = Search()
adam = nn.Adam(model.parameters(), lr=2e-3)
for epoch in range(14):
    order = rng.permutation(1000)
    for rows in order.reshape(-1, 100):
        logits = model(ingredients[rows], titles[rows])
        own = np.arange(100)
        loss = (nn.cross_entropy(logits, own) + nn.cross_entropy(logits.T, own)) / 2
        adam.zero_grad()
        loss.backward()
        adam.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  scale {np.exp(model.log_scale.item()):.1f}")

scores = model(ingredients[1000:], titles[1000:]).numpy()
rank = (scores > np.diag(scores)[:, None]).sum(axis=1)
print(f"among 200 new recipes: right at once {np.mean(rank == 0):.3f}, in the first five {np.mean(rank < 5):.3f}")
