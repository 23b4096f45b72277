import numpy as np
import minigrad as mg

r = np.random.default_rng(3)
K = 3
mu = r.normal(size=(K, 6)) * 1.5
t = r.integers(0, K, 180)
X = mu[t] + r.normal(size=(180, 6))
T = np.eye(K)[t]

W1, b1 = r.normal(size=(6, 10)) * 0.4, np.zeros(10)
W2, b2 = r.normal(size=(10, K)) * 0.4, np.zeros(K)


def f(W1, b1, W2, b2):
    h = np.tanh(X @ W1 + b1)
    z = h @ W2 + b2
    return -np.mean(np.sum(T * mg.log_softmax(z, axis=1), axis=1))


fg = mg.value_and_grad(f, (0, 1, 2, 3))
theta = [W1, b1, W2, b2]
for i in range(120):
    loss, grads = fg(*theta)
    for p, g in zip(theta, grads):
        p = p - 0.5 * g
    if i % 20 == 0:
        print(i, loss)
print("last", f(*theta))
