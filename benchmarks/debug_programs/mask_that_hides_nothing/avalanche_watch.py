# A geophone writes bursts into a ring buffer of 20 values; behind the burst the buffer still has older values.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(606)
N, T = 400, 20
buffer = rng.normal(0, 1.5, (N, T))
length = rng.integers(3, T + 1, N)
level = rng.uniform(-2, 2, N)
for row, n, a in zip(buffer, length, level):
    row[:n] = a + 0.3 * rng.normal(size=n)
danger = np.tanh(level)


def attend(p, buffer, length):
    valid = np.arange(buffer.shape[1]) < length.max()
    features = np.tanh(buffer[:, :, None] * p["stretch"] + p["shift"])
    scores = features @ p["query"]
    scores = np.where(valid[None, :], scores, -1e9)
    weights = mg.softmax(scores, axis=1)
    return (weights[:, :, None] * features).sum(axis=1)


def predict(p, buffer, length):
    return attend(p, buffer, length) @ p["out"] + p["bias"]


def error(p, buffer, length, danger):
    return np.mean((predict(p, buffer, length) - danger) ** 2)


D = 8
p = {
    "stretch": rng.normal(0, 1, D),
    "shift": rng.normal(0, 0.5, D),
    "query": rng.normal(0, 0.1, D),
    "out": rng.normal(0, 0.3, D),
    "bias": 0.0,
}
gradient = mg.value_and_grad(error)
momentum = mg.tree_map(np.zeros_like, p)
for step in range(300):
    value, g = gradient(p, buffer[:300], length[:300], danger[:300])
    momentum = mg.tree_map(lambda m, d: 0.9 * m + d, momentum, g)
    p = mg.tree_map(lambda a, m: a - 0.03 * m, p, momentum)
    if step % 50 == 0:
        print(step, f"{value:.4f}")
print("new bursts:", f"{error(p, buffer[300:], length[300:], danger[300:]):.4f}", "variance", f"{danger.var():.4f}")
