"""How full will the ferry be? The log of a day has up to ten entries; the buffer behind them is never wiped."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
DAYS, ENTRIES, WIDTH = 1500, 10, 16

passengers = rng.normal(size=(DAYS, ENTRIES, 4))
length = rng.integers(2, 6, size=DAYS)
entered = (np.arange(ENTRIES) < length[:, None]).astype(float)
fullness = (np.maximum(passengers[:, :, 0], passengers[:, :, 1]) * entered).sum(axis=1) / length


def start(rows, columns):
    return rng.normal(0, rows**-0.5, (rows, columns))


P = {"in": start(4, WIDTH), "key": start(WIDTH, 1), "value": start(WIDTH, WIDTH), "out": start(WIDTH, 1), "shift": np.zeros(1)}


def predict(P, log, entered):
    h = np.maximum(log @ P["in"], 0)
    score = (h @ P["key"])[:, :, 0]
    score = score + (1 - entered) * -1e-9
    share = mg.softmax(score, axis=1)
    mean = (share[:, :, None] * (h @ P["value"])).sum(axis=1)
    return (mean @ P["out"])[:, 0] + P["shift"]


def error(P, log, entered, full):
    return ((predict(P, log, entered) - full) ** 2).mean()


step_of = mg.value_and_grad(error)
velocity = mg.tree_map(np.zeros_like, P)
train, test = slice(0, 1200), slice(1200, None)
for step in range(600):
    pick = rng.integers(1200, size=64)
    value, slope = step_of(P, passengers[pick], entered[pick], fullness[pick])
    for name in P:
        velocity[name] = 0.9 * velocity[name] + slope[name]
        P[name] = P[name] - 0.03 * velocity[name]
    if step % 150 == 0:
        print(f"step {step:4d}  error {value:.4f}")
print(f"train {error(P, passengers[train], entered[train], fullness[train]):.4f}")
print(f"test  {error(P, passengers[test], entered[test], fullness[test]):.4f}")
