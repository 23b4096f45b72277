# %% flowers of four invented species, measured in sixty ways
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(3)
n, species, traits = 1000, 4, 60
label = rng.integers(species, size=n)
centre = rng.normal(0, 0.3, size=(species, traits))
petals = (centre[label] + rng.normal(size=(n, traits))).astype(np.float32)
petals = (petals - petals.mean(axis=0)) / petals.std(axis=0)

# %% put some of them aside
order = rng.permutation(n)
cut = int(0.97 * n)
valid, train = order[:cut], order[cut:]

# %% the network
model = nn.Sequential(
    nn.Affine(traits, 16, rng=rng), mg.relu,
    nn.Affine(16, species, rng=rng),
)
optimizer = nn.AdamW(model.parameters(), lr=0.003, weight_decay=0.05)

# %% training
running = []
for step in range(700):
    pick = rng.choice(train, 32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(petals[pick]), label[pick])
    loss.backward()
    optimizer.step()
    running.append(loss.item())
    if step % 100 == 99:
        with mg.no_grad():
            held = nn.cross_entropy(model(petals[valid]), label[valid]).item()
        print(f"{step + 1:3d}  train {np.mean(running[-100:]):.4f}  held out {held:.4f}")

# %% the result
with mg.no_grad():
    guess = model(petals[valid]).numpy().argmax(axis=1)
print("accuracy on the held-out flowers:", round(float(np.mean(guess == label[valid])), 3))
