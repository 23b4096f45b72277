import numpy as np
import minigrad as mg
import nn

# Recipes and photographs of soups in one space: each recipe should be nearest to its own photograph.
SOUPS, BATCH = 400, 50
rng = np.random.default_rng(9)
taste = rng.standard_normal((SOUPS, 6))
recipe = (taste @ rng.standard_normal((6, 20)) + 0.3 * rng.standard_normal((SOUPS, 20))).astype(np.float32) / 3
photo = (np.tanh(taste @ rng.standard_normal((6, 24)) * 0.5) + 0.1 * rng.standard_normal((SOUPS, 24))).astype(np.float32)


class Tower(nn.Module):
    def __init__(self, inputs, rng):
        self.body = nn.Sequential(nn.Affine(inputs, 32, rng=rng), np.tanh, nn.Affine(32, 16, rng=rng))

    def forward(self, x):
        v = self.body(x)
        return v / np.sqrt((v * v).sum(axis=-1, keepdims=True) + 1e-8)


def similarity(a, b):
    return a @ b.T


text, image = Tower(20, rng), Tower(24, rng)
optimizer = nn.AdamW([*text.parameters(), *image.parameters()], lr=0.003)
for epoch in range(30):
    for rows in np.split(rng.permutation(350), 350 // BATCH):
        optimizer.zero_grad()
        s = similarity(text(recipe[rows]), image(photo[rows]))
        own = np.arange(BATCH)
        loss = nn.cross_entropy(s, own) + nn.cross_entropy(s.T, own)
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: {loss.item() / 2:.3f}")
with mg.no_grad():
    s = similarity(text(recipe[350:]), image(photo[350:])).numpy()
print(f"own photograph found: {np.mean(s.argmax(axis=1) == np.arange(50)):.2f}")
