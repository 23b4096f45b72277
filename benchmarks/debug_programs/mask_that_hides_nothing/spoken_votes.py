"""Which word won the vote? Ballots of different lengths lie in one reused buffer."""

import numpy as np

from minigrad import Tensor, cross_entropy, softmax

WORDS, LENGTH, WIDTH = 5, 12, 16
rng = np.random.default_rng(29)


def ballots(n):
    lengths = rng.integers(2, 5, n)
    buffer = rng.integers(0, WORDS, (n, LENGTH))
    winner = rng.integers(0, WORDS, n)
    for i in range(n):
        spoken = rng.integers(0, WORDS, lengths[i])
        spoken[rng.permutation(lengths[i])[: lengths[i] // 2 + 1]] = winner[i]
        buffer[i, : lengths[i]] = spoken
    valid = np.arange(LENGTH)[None, :] < lengths[:, None]
    return buffer, valid, winner


def weight(name, *shape):
    return Tensor(rng.normal(0, 1 / np.sqrt(shape[0]), shape), requires_grad=True, name=name)


table, w_score = weight("table", WORDS, WIDTH), weight("w_score", WIDTH, 1)
w_hidden, w_out = weight("w_hidden", WIDTH, 24), weight("w_out", 24, WORDS)
weights = [table, w_score, w_hidden, w_out]


def logits(ids, valid):
    x = table[ids]
    scores = (np.tanh(x) @ w_score)[:, :, 0]
    scores = scores + np.where(valid, 0.0, -1e-9)
    share = softmax(scores, axis=1)
    mixed = (share[:, :, None] * x).sum(axis=1)
    return np.tanh(mixed @ w_hidden) @ w_out


moments = [np.zeros(w.shape) for w in weights]
for step in range(800):
    ids, valid, winner = ballots(40)
    loss = cross_entropy(logits(ids, valid), winner)
    loss.backward()
    for w, m in zip(weights, moments):
        m *= 0.9
        m += w.grad.numpy()
        w.data -= 0.05 * m
        w.zero_grad()
    if step % 100 == 0:
        print(f"{step:4d} {loss.item():.3f}")

ids, valid, winner = ballots(1000)
print("winner found:", np.mean(logits(ids, valid).numpy().argmax(axis=1) == winner))
