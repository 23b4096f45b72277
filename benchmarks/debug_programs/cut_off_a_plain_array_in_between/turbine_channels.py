# Which turbine is about to fail?  Three vibration channels, one matched filter per channel, a logistic reading on top.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
N, T, K = 160, 40, 7

knock = np.array([0.0, 1.0, -2.0, 2.5, -2.0, 1.0, 0.0])


def recordings(n):
    signal = rng.normal(0, 1.0, (n, 3, T))
    failing = rng.integers(0, 2, n)
    for i in np.flatnonzero(failing):
        for c in range(3):
            t = rng.integers(0, T - K)
            signal[i, c, t : t + K] += 1.2 * knock
    # each filter sees every position of its channel
    return np.lib.stride_tricks.sliding_window_view(signal, K, axis=2), failing.astype(float)


filters = [mg.Tensor(rng.normal(0, 0.3, K), requires_grad=True) for _ in range(3)]
w = mg.Tensor(rng.normal(0, 0.3, 3), requires_grad=True)
b = mg.Tensor(0.0, requires_grad=True)


def logits(view):
    table = np.zeros((len(view), 3))
    for c, f in enumerate(filters):
        response = view[:, c] @ f
        table[:, c] = response.max(axis=1).numpy()
    return table @ w + b


view, failing = recordings(N)
for i in range(200):
    z = logits(view)
    loss = (np.logaddexp(0, z) - failing * z).mean()
    loss.backward()
    for p in [*filters, w, b]:
        if p.grad is not None:
            p.data -= 0.2 * p.grad
        p.zero_grad()
    if i % 40 == 0:
        print(i, round(loss.item(), 4))

fresh, truth = recordings(300)
with mg.no_grad():
    print("right on new recordings:", np.mean((logits(fresh).numpy() > 0) == (truth > 0)).round(3))
