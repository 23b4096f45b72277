"""A recurrent network by hand: the level behind a lock after a day of openings."""
import numpy as np
import minigrad as mg

HOURS, HIDDEN, PARTS, PART = 12, 16, 16, 8
rng = np.random.default_rng(64)


def days(count):
    opening = rng.uniform(0, 1, (count, HOURS, 2))
    level = np.zeros(count)
    for hour in range(HOURS):
        level = 0.7 * level + opening[:, hour, 0] - 0.6 * opening[:, hour, 1] * opening[:, hour, 0]
    return opening, level


def tensor(*shape):
    return mg.Tensor(rng.standard_normal(shape) * shape[0] ** -0.5, requires_grad=True)


U, W, v = tensor(2, HIDDEN), tensor(HIDDEN, HIDDEN), tensor(HIDDEN)
b, c = mg.Tensor(np.zeros(HIDDEN), requires_grad=True), mg.Tensor(0.0, requires_grad=True)
weights = [U, W, v, b, c]


def level_after(opening):
    h = np.zeros((len(opening), HIDDEN))
    for hour in range(HOURS):
        h = np.tanh(opening[:, hour] @ U + h @ W + b)
    return h @ v + c


opening, level = days(PARTS * PART)
for update in range(40):
    total = 0.0
    for part in range(PARTS):
        rows = slice(part * PART, (part + 1) * PART)
        loss = ((level_after(opening[rows]) - level[rows]) ** 2).mean()
        loss.backward()
        total += loss.item() / PARTS
    for p in weights:
        p.data -= 0.05 * p.grad.numpy()
        p.zero_grad()
    if update % 10 == 0:
        print(f"{update:3d} {total:.4f}")
new_opening, new_level = days(200)
with mg.no_grad():
    print(f"error on new days {((level_after(new_opening) - new_level) ** 2).mean().item():.4f}")
