import numpy as np
import minigrad as mg

r = np.random.default_rng(5)
n = 400
t = r.uniform(0, np.pi, n)
k = np.arange(n) % 2
a = np.stack([np.where(k, 1 - np.cos(t), np.cos(t)), np.where(k, 0.5 - np.sin(t), np.sin(t))], 1)
a += r.normal(0, 0.12, a.shape)
y = np.zeros((n, 2))
y[np.arange(n), k] = 1.0
o = r.permutation(n)
a, y = a[o], y[o]
A, Y = a[300:], y[300:]
a, y = a[:300], y[:300]

W = [r.normal(0, 1, (2, 20)), np.zeros(20), r.normal(0, 0.3, (20, 2)), np.zeros(2)]


def f(W, a):
    return np.tanh(a @ W[0] + W[1]) @ W[2] + W[3]


def L(W, a, y):
    return -(y * mg.log_softmax(f(W, a))).sum(1).mean()


g = mg.value_and_grad(L)
for e in range(40):
    o = r.permutation(len(a))
    a, y = a[o], y[o]
    s = 0.0
    for i in range(0, len(a), 30):
        l, d = g(W, a[i : i + 30], y[i : i + 30])
        W = [w - 0.3 * x for w, x in zip(W, d)]
        s += float(l) / 10
    if e % 8 == 0:
        print(e, round(s, 4))
print("last", round(s, 4), "unseen", (f(W, A).argmax(1) == Y.argmax(1)).mean())
