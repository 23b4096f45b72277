import numpy as np
import minigrad as mg

r = np.random.default_rng(5)
n = 400
t = r.uniform(0, np.pi, n)
k = np.arange(n) % 2
a = np.stack([np.where(k, 1 - np.cos(t), np.cos(t)), np.where(k, 0.5 - np.sin(t), np.sin(t))], 1)
a += r.normal(0, 0.12, a.shape)
q = k.copy()
A, Q = a[300:], q[300:]
a, q = a[:300], q[:300]

W = [r.normal(0, 1, (2, 20)), np.zeros(20), r.normal(0, 0.3, (20, 2)), np.zeros(2)]


def f(W, a):
    return np.tanh(a @ W[0] + W[1]) @ W[2] + W[3]


def L(W, a, q):
    return mg.cross_entropy(f(W, a), q)


g = mg.value_and_grad(L)
for e in range(40):
    a = a[r.permutation(len(a))]
    q = q[r.permutation(len(q))]
    s = 0.0
    for i in range(0, len(a), 30):
        l, d = g(W, a[i : i + 30], q[i : i + 30])
        W = [w - 0.3 * x for w, x in zip(W, d)]
        s += float(l) / 10
    if e % 8 == 0:
        print(e, round(s, 4))
print("last", round(s, 4), "unseen", (f(W, A).argmax(1) == Q).mean())
