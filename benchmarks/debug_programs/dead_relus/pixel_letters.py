"""Three hand-drawn letters on a 5 by 5 grid, with smudges."""
import numpy as np
from minigrad import Tensor, relu, cross_entropy

SHAPES = {
    "L": "10000 10000 10000 10000 11111",
    "T": "11111 00100 00100 00100 00100",
    "O": "01110 10001 10001 10001 01110",
}
rng = np.random.default_rng(91)
letters = list(SHAPES)
clean = np.array([[float(c) for c in SHAPES[k].replace(" ", "")] for k in letters])


def draw(n):
    which = rng.integers(0, 3, n)
    ink = np.clip(clean[which] + rng.normal(0, 0.35, (n, 25)), 0, 1)
    return ink, which


hidden = 20
W1 = Tensor(rng.uniform(-0.4, 0, (25, hidden)), requires_grad=True)
b1 = Tensor(np.zeros(hidden), requires_grad=True)
W2 = Tensor(rng.uniform(-0.4, 0.4, (hidden, 3)), requires_grad=True)
b2 = Tensor(np.zeros(3), requires_grad=True)
everything = (W1, b1, W2, b2)

for step in range(400):
    ink, which = draw(32)
    h = relu(ink @ W1 + b1)
    loss = cross_entropy(h @ W2 + b2, which)
    loss.backward()
    for p in everything:
        p.data -= 0.1 * p.grad.data
        p.zero_grad()
    if step % 80 == 0:
        print("step", step, "loss", round(loss.item(), 4))

ink, which = draw(600)
answer = (relu(ink @ W1 + b1) @ W2 + b2).numpy().argmax(axis=1)
print("letters read correctly:", np.mean(answer == which).round(3))
