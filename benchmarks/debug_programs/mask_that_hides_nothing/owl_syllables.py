"""Owls call in syllables; a small attention network learns which syllable follows."""
import numpy as np
import minigrad as mg
import nn

KINDS, LENGTH, D = 7, 12, 24
rng = np.random.default_rng(2)
follow = rng.permutation(KINDS * KINDS).reshape(KINDS, KINDS) % KINDS


def calls(count):
    """Each syllable is decided by the two before it, apart from one in ten."""
    song = np.zeros((count, LENGTH + 1), int)
    song[:, :2] = rng.integers(0, KINDS, (count, 2))
    for t in range(2, LENGTH + 1):
        usual = follow[song[:, t - 2], song[:, t - 1]]
        song[:, t] = np.where(rng.random(count) < 0.1, rng.integers(0, KINDS, count), usual)
    return song


def matrix(rows, columns):
    return nn.Parameter(rng.normal(0, rows**-0.5, (rows, columns)).astype(np.float32))


table, places = matrix(KINDS, D), matrix(LENGTH, D)
Q, K, V = [matrix(D, D) for _ in range(3)]
up, down, out = matrix(D, 4 * D), matrix(4 * D, D), matrix(D, KINDS)
second = [matrix(D, D) for _ in range(3)]
PAST = np.tril(np.ones((LENGTH, LENGTH), np.float32))


def attend(x, q, k, v):
    scores = (x @ q) @ np.swapaxes(x @ k, 1, 2) / D**0.5
    n = x.shape[1]
    hidden = scores + (1 - PAST[:n, :n]) * -1e-9
    return mg.softmax(hidden, axis=-1) @ (x @ v)


def predict(song):
    x = table[song] + places[: song.shape[1]]
    x = x + attend(x, Q, K, V)
    x = x + attend(x, *second)
    x = x + mg.relu(x @ up) @ down
    return x @ out


weights = [table, places, Q, K, V, *second, up, down, out]
optimizer = nn.Adam(weights, lr=0.005)
for step in range(700):
    song = calls(48)
    optimizer.zero_grad()
    loss = nn.cross_entropy(predict(song[:, :-1]), song[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(step + 1, f"{loss.item():.3f}")

fresh = calls(500)
for heard in (5, 8):
    following = predict(fresh[:, :heard]).numpy()[:, -1].argmax(axis=-1)
    print(f"the syllable after the first {heard}: {np.mean(following == fresh[:, heard]):.2f} right")
