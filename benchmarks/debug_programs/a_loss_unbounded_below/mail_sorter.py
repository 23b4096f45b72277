"""Sort mail into +1 (keep) and -1 (junk) with a bag of words and a network written by hand."""

import numpy as np
from minigrad import Tensor

WORDS = 60
rng = np.random.default_rng(55)
junk_rate = rng.gamma(0.7, 0.5, WORDS)
keep_rate = rng.gamma(0.7, 0.5, WORDS)


def mails(n):
    side = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    rate = np.where(side[:, None] > 0, keep_rate, junk_rate)
    return np.log1p(rng.poisson(0.6 * (rate + 0.3))), side


def logistic_loss(score, side):
    return (np.logaddexp(0.0, score) - side * score).mean()


def parameter(*shape):
    return Tensor(rng.normal(0, shape[0] ** -0.5, shape), requires_grad=True)


x, side = mails(1200)
x_new, side_new = mails(500)
w1, w2 = parameter(WORDS, 16), parameter(16)
b1, b2 = Tensor(np.zeros(16), requires_grad=True), Tensor(0.0, requires_grad=True)
weights = [w1, b1, w2, b2]


def network(x):
    return np.maximum(x @ w1 + b1, 0.0) @ w2 + b2


for step in range(401):
    rows = rng.integers(len(x), size=100)
    loss = logistic_loss(network(x[rows]), side[rows])
    for w in weights:
        w.zero_grad()
    loss.backward()
    for w in weights:
        w.data -= 0.02 * w.grad
    if step % 100 == 0:
        print(f"{step:4d}  loss {loss.item():.3f}")

kept = network(x_new).numpy() > 0
print(f"kept {kept.mean():.2f} of the new mail, right {np.mean(np.where(kept, 1, -1) == side_new):.3f}")
