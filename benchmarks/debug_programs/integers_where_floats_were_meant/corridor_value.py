"""Learn the value of each square of a corridor: the walk ends at the right wall, which pays 1."""
import numpy as np

import minigrad as mg
import nn

SQUARES, GAMMA = 10, 0.9
rng = np.random.default_rng(2)


def walk():
    place, places, rewards = rng.integers(0, SQUARES - 1), [], []
    while place < SQUARES - 1:
        places.append(place)
        place = max(0, place + rng.choice([-1, 1, 1, 1]))
        rewards.append(1 if place == SQUARES - 1 else 0)
    return np.array(places), np.array(rewards)


def discounted(rewards):
    returns = np.zeros_like(rewards)
    later = 0.0
    for t in reversed(range(len(rewards))):
        returns[t] = rewards[t] + GAMMA * later
        later = returns[t]
    return returns


seen, worth = [], []
for _ in range(150):
    places, rewards = walk()
    seen.append(places)
    worth.append(discounted(rewards))
seen, worth = np.concatenate(seen), np.concatenate(worth)

net = nn.Sequential(nn.Embedding(SQUARES, 8, rng=rng), np.tanh, nn.Affine(8, 1, rng=rng))
optimizer = nn.Adam(net.parameters(), lr=0.02)
for step in range(300):
    rows = rng.integers(0, len(seen), 64)
    guess = net(seen[rows])[:, 0]
    loss = ((guess - worth[rows]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, round(loss.item(), 4))

with mg.no_grad():
    print("values", net(np.arange(SQUARES - 1)).numpy()[:, 0].round(2))
