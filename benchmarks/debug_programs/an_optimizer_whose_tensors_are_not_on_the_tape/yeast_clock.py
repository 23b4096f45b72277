# %% Hours until a dough has doubled, from temperature, salt, sugar and age of the yeast
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(6)
recipe = rng.uniform(-1, 1, (360, 4)).astype(np.float32)
hours = (3 - 1.5 * recipe[:, 0] + recipe[:, 1] ** 2 - 0.7 * recipe[:, 2] * recipe[:, 3]).astype(np.float32)

# %% The network
P = {
    "w": rng.normal(0, 0.5, (4, 16)),
    "b": np.zeros(16),
    "v": rng.normal(0, 0.25, (16, 1)),
    "c": np.zeros(1),
}
P = {name: mg.Tensor(array, requires_grad=True, name=name) for name, array in P.items()}
adam = nn.Adam(list(P.values()), lr=0.02)

# float32 is faster
P = {name: mg.Tensor(t.numpy().astype(np.float32), requires_grad=True, name=name) for name, t in P.items()}


def predict(x):
    return (np.tanh(x @ P["w"] + P["b"]) @ P["v"] + P["c"])[:, 0]


# %% Training
for step in range(400):
    adam.zero_grad()
    rows = rng.integers(0, 300, 30)
    loss = ((predict(recipe[rows]) - hours[rows]) ** 2).mean()
    loss.backward()
    adam.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))

# %% Sixty recipes that were not used
with mg.no_grad():
    print("error:", round(float(((predict(recipe[300:]) - hours[300:]) ** 2).mean().item()), 3))
