import numpy as np
import minigrad as mg

# A courier's delivery time: full hours on the road, plus the minutes in the last street.
rng = np.random.default_rng(3)
km = rng.uniform(0.5, 9.0, (300, 1))
parcels = rng.integers(1, 6, (300, 1))
rain = rng.integers(0, 2, (300, 1))
minutes = 24.0 * km * (1 + 0.3 * rain) + 6.0 * parcels + rng.normal(0, 3, (300, 1))

x = np.hstack([km / 5, parcels / 3, rain])
train, test = slice(0, 240), slice(240, 300)


def tensor(*shape, scale=0.4):
    return mg.Tensor(rng.normal(0, scale, shape), requires_grad=True)


W1, b1 = tensor(3, 10), tensor(10)
Wh, bh = tensor(10, 1), mg.Tensor([2.0], requires_grad=True)
Wm, bm = tensor(10, 1), mg.Tensor([0.0], requires_grad=True)
weights = [W1, b1, Wh, bh, Wm, bm]


def predict(x):
    h = np.tanh(x @ W1 + b1)
    hours = np.logaddexp(0, h @ Wh + bh)
    full = hours.astype(np.int64)
    rest = mg.sigmoid(h @ Wm + bm)
    return full + rest                         # in hours


rate = 0.05
velocity = [np.zeros(w.shape) for w in weights]
for step in range(600):
    loss = ((predict(x[train]) - minutes[train] / 60) ** 2).mean()
    loss.backward()
    for w, v in zip(weights, velocity):
        if w.grad is not None:
            v *= 0.9
            v += w.grad.numpy()
            w.data -= rate * v
        w.zero_grad()
    if step % 150 == 0:
        print(f"step {step:4d}  loss {loss.item():.4f}")

with mg.no_grad():
    off = 60 * np.abs(predict(x[test]).numpy() - minutes[test] / 60)
print(f"on average {off.mean():.1f} minutes off")
