"""Spell the names of church bells: the next letter from the three letters before, on a network with four arrays."""
import numpy as np
import minigrad as mg

NAMES = "osanna gloriosa susanna concordia apostolica emmanuel benedicta maria josefa petronella salvator ave".split()
LETTERS = ".abcdefghijklmnopqrstuvwxyz"
rng = np.random.default_rng(77)

contexts, following = [], []
for name in NAMES:
    spelled = [0, 0, 0, *map(LETTERS.index, name), 0]
    for i in range(3, len(spelled)):
        contexts.append(spelled[i - 3 : i])
        following.append(spelled[i])
contexts, following = np.array(contexts), np.array(following)
known = {tuple(c) for c in np.column_stack([contexts, following]).tolist()}


def scores(p, ids):
    h = np.tanh(p["letters"][ids].reshape(len(ids), -1) @ p["w"])
    return np.tanh(h @ p["u"] + p["bias"])


def loss(p, ids, y):
    return -mg.log_softmax(scores(p, ids), axis=-1)[np.arange(len(y)), y].mean()


p = {"letters": rng.normal(size=(27, 10)), "w": rng.normal(0, 0.2, (30, 48)), "u": rng.normal(0, 0.1, (48, 27)), "bias": np.zeros(27)}
slope = mg.value_and_grad(loss)
for step in range(1500):
    rows = rng.integers(0, len(following), 40)
    value, g = slope(p, contexts[rows], following[rows])
    p = {k: p[k] - 0.3 * g[k] for k in p}
    if step % 500 == 499:
        print(f"{step + 1}: loss {value:.3f}")

odds = np.asarray(mg.softmax(scores(p, contexts), axis=-1))
drawn = np.array([rng.choice(27, p=row / row.sum()) for row in odds])
print(f"letters drawn that do follow: {np.mean([tuple(c) in known for c in np.column_stack([contexts, drawn]).tolist()]):.3f}")
