# A recurrent network listens to bell tunes and goes on with them. A tune steps through twelve bells, always by the same
# interval, and jumps back when it passes the last one.
import numpy as np

import minigrad as mg

BELLS, WIDTH, LENGTH = 12, 48, 14
rng = np.random.default_rng(11)


def ring(count, length):
    first, interval = rng.integers(BELLS, size=(count, 1)), rng.choice([1, 2, 5, 7], size=(count, 1))
    return (first + interval * np.arange(length)) % BELLS


def matrix(rows, columns):
    return rng.normal(0, rows**-0.5, (rows, columns)).astype(np.float32)


P = {
    "bell": matrix(BELLS, WIDTH),
    "old": matrix(WIDTH, WIDTH),
    "new": matrix(WIDTH, WIDTH),
    "out": matrix(WIDTH, BELLS),
}


def listen(P, state, bell):
    state = np.tanh(P["bell"][bell] @ P["new"] + state @ P["old"])
    return state, state @ P["out"]


def loss(P, tunes):
    state = np.zeros((len(tunes), WIDTH), np.float32)
    total = 0.0
    for t, bell in enumerate(tunes[:, :-2].T, start=1):
        state, scores = listen(P, state, bell)
        total = total + mg.cross_entropy(scores, tunes[:, t + 1]).mean()
    return total / (LENGTH - 2)


gradient = mg.value_and_grad(loss)
mean, square = mg.tree_map(np.zeros_like, P), mg.tree_map(np.zeros_like, P)
for step in range(1, 401):
    value, g = gradient(P, ring(32, LENGTH))
    for name in P:
        mean[name] = 0.9 * mean[name] + 0.1 * g[name]
        square[name] = 0.99 * square[name] + 0.01 * g[name] ** 2
        P[name] = P[name] - 0.005 * mean[name] / (np.sqrt(square[name]) + 1e-6)
    if step % 100 == 0:
        print(f"step {step}: loss {float(value):.3f}")

whole = ring(200, 12)
state = np.zeros((200, WIDTH), np.float32)
for t in range(4):
    state, scores = listen(P, state, whole[:, t])
sung = []
for t in range(4, 12):
    sung.append(scores.argmax(axis=1))
    state, scores = listen(P, state, sung[-1])
print(f"bells that continue a tune rightly: {np.mean(np.stack(sung, axis=1) == whole[:, 4:]):.2f}")
