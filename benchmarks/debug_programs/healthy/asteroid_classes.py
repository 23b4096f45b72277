import numpy as np
import minigrad as mg
import nn

# Memory is short on this laptop: one update for every four small batches, the gradients add up in between.
rng = np.random.default_rng(203)
kinds = rng.integers(0, 3, 960)
colour = np.array([[0.2, 0.5, 0.1], [0.6, 0.3, 0.4], [0.4, 0.9, 0.7]])[kinds] + 0.12 * rng.normal(size=(960, 3))
albedo = np.array([0.05, 0.2, 0.4])[kinds] * np.exp(0.3 * rng.normal(size=960))
X = np.column_stack([colour, np.log(albedo)])
X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
SMALL, MANY = 16, 4

model = nn.Sequential(nn.Affine(4, 24, rng=rng), mg.silu, nn.Affine(24, 3, rng=rng))
optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
updates = 0
for epoch in range(10):
    order = rng.permutation(768)
    optimizer.zero_grad()
    for number, rows in enumerate(np.split(order, 768 // SMALL), start=1):
        loss = nn.cross_entropy(model(X[rows]), kinds[rows]) / MANY
        loss.backward()
        if number % MANY == 0:
            optimizer.step()
            optimizer.zero_grad()
            updates += 1
    answer = model(X[768:]).numpy().argmax(axis=1)
    print(f"epoch {epoch + 1:2d}  updates {updates:3d}  loss {MANY * loss.item():.3f}  unseen {np.mean(answer == kinds[768:]):.3f}")
