# %% Which of four people typed this? Twelve intervals between keys.
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(30)
habits = rng.uniform(80, 260, (4, 12))
person = rng.integers(0, 4, 320)
intervals = (habits[person] + rng.normal(0, 45, (320, 12)) - 170) / 60
intervals = intervals.astype(np.float32)

# %%
hidden = nn.Affine(12, 20, rng=rng)
output = nn.Affine(20, 4, rng=rng)
model = nn.Sequential(hidden, mg.relu, output)
optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.5)

# %%
order = np.random.default_rng(2)
for epoch in range(15):
    losses = []
    for rows in np.array_split(order.permutation(320), 10):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(intervals[rows]), person[rows])
        optimizer.step()
        loss.backward()
        losses.append(loss.item())
    print(epoch, f"{np.mean(losses):.4f}")

# %%
print("correct:", np.mean(model(intervals).numpy().argmax(axis=1) == person))
