import numpy as np
import minigrad as mg

rng = np.random.default_rng(0)
K, D, N = 15, 6, 900
centres = 2 * rng.normal(size=(K, D))
y = rng.integers(0, K, N)
X = centres[y] + rng.normal(size=(N, D))
Y = np.eye(K)[y]


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def forward(theta, X):
    W1, b1, W2, b2 = theta
    h = np.maximum(X @ W1 + b1, 0)
    return softmax(h @ W2 + b2)


def nll(theta, X, Y):
    p = forward(theta, X)
    return -(Y * mg.log_softmax(p)).sum(axis=1).mean()


theta = [0.4 * rng.normal(size=(D, 40)), np.zeros(40), 0.1 * rng.normal(size=(40, K)), np.zeros(K)]
vg = mg.value_and_grad(nll)
for t in range(250):
    batch = rng.integers(0, 700, 50)
    c, grads = vg(theta, X[batch], Y[batch])
    theta = [p - 0.2 * g for p, g in zip(theta, grads)]
    if t % 50 == 0:
        print(f"t={t:3d} c={c:.4f}")

hit = forward(theta, X[700:]).argmax(axis=1) == y[700:]
print(f"c={c:.4f} accuracy on the 200 rows that were kept back: {hit.mean():.3f}")
