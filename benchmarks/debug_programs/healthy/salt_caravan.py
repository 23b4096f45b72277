# %% Camels, loads and wells: how many days does a caravan need?
import numpy as np
import minigrad as mg

rng = np.random.default_rng(61)
camels = rng.uniform(10, 60, 512)
load = rng.uniform(50, 150, 512)
wells = rng.integers(1, 9, 512)
days = 10 + 0.12 * load + 20 / wells + 0.05 * np.abs(camels - 30) + rng.normal(0, 0.3, 512)
X = np.stack([(camels - 35) / 14, (load - 100) / 29, (wells - 4.5) / 2.3], axis=1)
Y = (days - days.mean()) / days.std()

# %% a network
H = 20
W = mg.Tensor(rng.normal(0, 0.6, (3, H)), requires_grad=True)
b = mg.Tensor(np.zeros(H), requires_grad=True)
V = mg.Tensor(rng.normal(0, H**-0.5, H), requires_grad=True)
c = mg.Tensor(0.0, requires_grad=True)
net = [W, b, V, c]


def guess(x):
    return np.tanh(x @ W + b) @ V + c


# %% the machine is small: four parts of a batch, then one step
PARTS, RATE = 4, 0.2
curve = []
for epoch in range(60):
    order = rng.permutation(448)
    for batch in order.reshape(-1, PARTS, 16):
        total = 0.0
        for part in batch:
            loss = ((guess(X[part]) - Y[part]) ** 2).mean() / PARTS
            loss.backward()
            total += loss.item()
        for p in net:
            p.data = p.data - RATE * p.grad.data
        for p in net:
            p.zero_grad()
        curve.append(total)

# %%
print("first and last five:", np.round(curve[:5], 3), np.round(curve[-5:], 4))
rest = guess(X[448:]).numpy() - Y[448:]
print(f"off by {np.abs(rest).mean() * days.std():.2f} days on the caravans kept aside")
