# %% the table of cars
import numpy as np

import nn

rng = np.random.default_rng(23)
year = rng.integers(2000, 2021, 400)
distance = (2021 - year) * 9000 + rng.normal(size=400) * 15000 + 20000
doors = rng.choice([3, 5], 400)
table = np.stack([year, distance, doors], axis=1).astype(np.float32)
price = 12 * np.exp(-(2021 - year) / 8) - distance / 60000 + 0.5 * doors
target = ((price - price.mean()) / price.std()).astype(np.float32)

# %% the model
inputs = table
hidden = nn.Affine(3, 16, rng=rng)
output = nn.Affine(16, 1, rng=rng)
optimizer = nn.Adam([*hidden.parameters(), *output.parameters()], lr=0.01)


def predict(x):
    return output(np.tanh(hidden(x)))[:, 0]


# %% training
for epoch in range(300):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(predict(inputs), target)
    loss.backward()
    optimizer.step()
    if epoch % 60 == 0:
        print(epoch, f"{loss.item():.4f}")
print(f"explained: {1 - loss.item() / target.var():.3f}")
