"""Six kinds of owl by their calls; some were heard a hundred times as often as others."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(15)
shares = np.array([0.6, 0.25, 0.09, 0.03, 0.02, 0.01])
voice = rng.normal(size=(6, 9)) * 1.4


def calls(n, p):
    owl = rng.choice(6, n, p=p)
    return voice[owl] + rng.normal(0, 1.0, (n, 9)), owl


x, owl = calls(2000, shares)
x_even, owl_even = calls(600, np.full(6, 1 / 6))
counts = np.bincount(owl, minlength=6)
factor = len(owl) / (6 * counts)
print("heard:", counts, "factors:", factor.round(2))


def loss(p, x, y):
    w1, b1, w2, b2 = p
    logp = mg.log_softmax(np.tanh(x @ w1 + b1) @ w2 + b2, axis=-1)
    each = -logp[np.arange(len(y)), y]
    return (factor[y] * each).sum() / factor[y].sum()


p = [rng.normal(0, 0.3, (9, 20)), np.zeros(20), rng.normal(0, 0.2, (20, 6)), np.zeros(6)]
slopes = mg.value_and_grad(loss)
for step in range(600):
    value, g = slopes(p, x, owl)
    p = [a - 0.3 * d for a, d in zip(p, g)]
    if step % 150 == 149:
        guess = (np.tanh(x_even @ p[0] + p[1]) @ p[2] + p[3]).argmax(axis=1)
        print(step + 1, f"loss {value:.3f}, right of evenly drawn calls {np.mean(guess == owl_even):.3f}")
