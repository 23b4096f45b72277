"""Learn the worth of each place in a corridor with a network and a slow copy of it that sets the targets."""

import numpy as np

import nn

LENGTH, DISCOUNT = 8, 0.9
rng = np.random.default_rng(101)


class Worth(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(LENGTH, 24, rng=rng)
        self.out = nn.Affine(24, 2, rng=rng)

    def forward(self, places):
        return self.out(np.tanh(self.hidden(np.eye(LENGTH, dtype=np.float32)[places])))


def move(place, action):
    """0 is left, 1 is right; the door at the right end pays 1 and ends the walk."""
    after = np.clip(place + 2 * action - 1, 0, LENGTH - 1)
    done = after == LENGTH - 1
    return after, done.astype(np.float32), done


fast, slow = Worth(np.random.default_rng(0)), Worth(np.random.default_rng(1))
optimizer = nn.RMSProp(fast.parameters(), lr=0.003)

for step in range(1500):
    if step % 50 == 0:
        for target, source in zip(slow.parameters(), fast.parameters(), strict=True):
            target.data[...] = source.data
    place = rng.integers(0, LENGTH - 1, 32)
    action = rng.integers(0, 2, 32)
    after, reward, done = move(place, action)
    target = reward + DISCOUNT * np.where(done, 0.0, slow(after).numpy().max(axis=1))
    chosen = fast(place)[np.arange(32), action]
    loss = nn.mean_squared_error(chosen, target.astype(np.float32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 250 == 0:
        print(f"step {step:4d}  loss {loss.item():.5f}  worth of the start {fast([0]).numpy().max():.3f}")

table = fast(np.arange(LENGTH - 1)).numpy()
truth = DISCOUNT ** np.arange(LENGTH - 2, -1, -1)
print("learned", table.max(axis=1).round(2))
print("true   ", truth.round(2))
print("goes right everywhere:", bool((table.argmax(axis=1) == 1).all()))
