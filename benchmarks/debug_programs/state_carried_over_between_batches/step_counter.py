"""How far from home does a walk end? A recurrent network reads ten steps to the left or to the right."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(89)
STATE, BATCH, LENGTH = 12, 50, 10


def walks(count):
    moves = rng.choice([-1.0, 1.0], (count, LENGTH))
    return moves, moves.sum(axis=1) / 3


U = Tensor(rng.normal(size=(1, STATE)) * 0.3, requires_grad=True)
W = Tensor(np.eye(STATE) * 0.9 + rng.normal(size=(STATE, STATE)) * 0.05, requires_grad=True)
v = Tensor(rng.normal(size=STATE) * 0.3, requires_grad=True)


def run(moves, h):
    for t in range(LENGTH):
        h = np.tanh(moves[:, t : t + 1] @ U + h @ W)
    return h @ v, h


velocity = {id(p): 0.0 for p in (U, W, v)}
h = Tensor(np.zeros((BATCH, STATE)))
for step in range(400):
    moves, target = walks(BATCH)
    h = h.detach()
    guess, h = run(moves, h)
    loss = ((guess - target) ** 2).mean()
    loss.backward()
    for p in (U, W, v):
        velocity[id(p)] = 0.9 * velocity[id(p)] + np.clip(p.grad.numpy(), -1, 1)
        p.data -= 0.005 * velocity[id(p)]
        p.zero_grad()
    if step % 80 == 79:
        print(f"step {step + 1}: {loss.item():.4f}")
moves, target = walks(500)
guess, _ = run(moves, Tensor(np.zeros((500, STATE))))
print(f"new walks: {((guess.numpy() - target) ** 2).mean():.4f}, of a constant {target.var():.4f}")
