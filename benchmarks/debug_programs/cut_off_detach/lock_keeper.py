# %% A canal lock: the first and the third boat's flags decide how the keeper answers at the end
import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
FLAGS, T, H = 4, 8, 24


def traffic(n):
    flags = rng.integers(0, FLAGS, (n, T))
    return np.eye(FLAGS)[flags], (flags[:, 0] + flags[:, 2]) % FLAGS


# %% weights
def start(rows, cols, size=1.0):
    return mg.Tensor(rng.normal(0, size * rows**-0.5, (rows, cols)), requires_grad=True)


inp = start(FLAGS, H)
rec = mg.Tensor(np.linalg.qr(rng.normal(size=(H, H)))[0], requires_grad=True)
off = mg.Tensor(np.zeros(H), requires_grad=True)
ans = start(H, FLAGS)
weights = [inp, rec, off, ans]


# %% the recurrent network
def keeper(x):
    h = mg.Tensor(np.zeros((len(x), H)))
    for t in range(T):
        before = h.detach()
        h = np.tanh(x[:, t] @ inp + before @ rec + off)
    return h @ ans


# %% Adam by hand
m = [np.zeros(w.shape) for w in weights]
s = [np.zeros(w.shape) for w in weights]
for step in range(1, 801):
    x, y = traffic(40)
    loss = mg.cross_entropy(keeper(x), y)
    loss.backward()
    for i, w in enumerate(weights):
        g = w.grad.numpy()
        m[i] = 0.9 * m[i] + 0.1 * g
        s[i] = 0.99 * s[i] + 0.01 * g * g
        w.data = w.data - 0.008 * m[i] / (1 - 0.9**step) / (np.sqrt(s[i] / (1 - 0.99**step)) + 1e-8)
        w.grad = None
    if step % 200 == 0:
        print(step, round(loss.item(), 3))

# %% how often is the answer right?
x, y = traffic(1000)
print("right:", np.mean(keeper(x).numpy().argmax(axis=1) == y))
