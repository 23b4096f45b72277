"""A mouse in a corridor of twelve fields: Q-learning with a second network for the targets."""
import numpy as np
import nn

rng = np.random.default_rng(103)
FIELDS, CHEESE, GAMMA = 12, 11, 0.9


def seen(field):
    return np.eye(FIELDS, dtype=np.float32)[field]


def make():
    return nn.Sequential(nn.Affine(FIELDS, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))


online, target = make(), make()
target.load_state_dict(online.state_dict())
adam = nn.Adam(online.parameters(), lr=0.005)
memory = []
field = 0
for step in range(1000):
    action = rng.integers(0, 2) if rng.random() < 0.5 else int(online(seen([field])).numpy().argmax())
    after = min(max(field + (1 if action else -1), 0), CHEESE)
    memory.append((field, action, float(after == CHEESE), after))
    field = rng.integers(0, CHEESE) if after == CHEESE or step % 30 == 0 else after
    if step < 100:
        continue
    rows = [memory[i] for i in rng.integers(0, len(memory), 32)]
    before, act, reward, then = (np.array(column) for column in zip(*rows))
    best = target(seen(then)).detach().max(axis=1)
    goal = reward + GAMMA * best * (then != CHEESE)
    value = online(seen(before))[np.arange(32), act]
    loss = ((value - goal) ** 2).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    if step % 50 == 0:
        target.load_state_dict(online.state_dict())
    if step % 150 == 100:
        print(step, "loss", round(loss.item(), 5))

q = online(seen(np.arange(CHEESE))).numpy()
print("goes right from", (q.argmax(axis=1) == 1).sum(), "of", CHEESE, "fields; value of the start", q[0].max().round(3), "exact", round(GAMMA**10, 3))
