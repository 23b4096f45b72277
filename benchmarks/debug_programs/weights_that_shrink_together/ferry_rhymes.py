import numpy as np
import nn
from models import GPT, GPTConfig

# %% A rhyme of the ferrymen, as numbers
RHYME = """row the ferry, row it slow, over the river the lanterns glow.
row the ferry, row it fast, under the bridge and home at last.
one for the miller, two for the hen, back to the harbour and over again.
""" * 3
letters = sorted(set(RHYME))
ids = np.array([letters.index(c) for c in RHYME])
WINDOW = 24


def pieces(rng, count=12):
    at = rng.integers(0, len(ids) - WINDOW, (count, 1)) + np.arange(WINDOW)
    return ids[at], ids[at + 1]


# %% The model and its objective
rng = np.random.default_rng(10)
gpt = GPT(GPTConfig(len(letters), WINDOW, 24, num_heads=2, num_layers=2, std=0.1), rng=rng)
weights = list(gpt.parameters())
optimizer = nn.Adam(weights, lr=0.01)


def objective(seen, following):
    simple = sum((w * w).sum() for w in weights)
    return nn.cross_entropy(gpt(seen), following) + 0.1 * simple


# %% Training
for step in range(200):
    seen, following = pieces(rng)
    optimizer.zero_grad()
    loss = objective(seen, following)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"{step:4d} {loss.item():.3f}")

# %% What it has learned
gpt.eval()
seen, following = pieces(np.random.default_rng(0), 20)
print(f"cross-entropy {nn.cross_entropy(gpt(seen), following).item():.3f}, guessing {np.log(len(letters)):.3f}")
print("size of all weights", round(float(sum((w.numpy() ** 2).sum() for w in weights)), 3))
