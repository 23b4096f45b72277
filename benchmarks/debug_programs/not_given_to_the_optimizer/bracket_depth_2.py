import numpy as np
from minigrad import Tensor, cross_entropy
import nn

rng = np.random.default_rng(66)
H, T = 24, 12


def brackets(n):
    """Sequences of opening (1) and closing (0) brackets; the label is the depth after the last one, from 0 to 4."""
    seq = rng.integers(0, 2, (n, T))
    depth = np.zeros(n, int)
    for t in range(T):
        depth = np.clip(depth + 2 * seq[:, t] - 1, 0, 4)
    return seq, depth


def normal(*shape, scale):
    return Tensor(rng.normal(size=shape) * scale, requires_grad=True)


Wx, Wh, bh = normal(2, H, scale=0.5), normal(H, H, scale=1 / np.sqrt(H)), Tensor(np.zeros(H), requires_grad=True)
Wy, by = normal(H, 5, scale=0.1), Tensor(np.zeros(5), requires_grad=True)


def run(seq):
    h = np.zeros((len(seq), H))
    for t in range(T):
        h = np.tanh(Wx[seq[:, t]] + h @ Wh + bh)
    return h @ Wy + by


opt = nn.Adam([Wx, bh, Wy, by], lr=0.01)
for step in range(400):
    seq, depth = brackets(32)
    loss = cross_entropy(run(seq), depth)
    loss.backward()
    opt.step()
    opt.zero_grad()
    if step % 80 == 0:
        print(step, round(loss.item(), 3))
seq, depth = brackets(1000)
print("loss", round(cross_entropy(run(seq), depth).item(), 3), "depth right", (run(seq).numpy().argmax(1) == depth).mean())
