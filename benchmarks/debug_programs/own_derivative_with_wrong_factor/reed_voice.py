# A network of sines that memorises the waveform of a reed pipe
import numpy as np
import minigrad as mg

OMEGA = 8.0
rng = np.random.default_rng(4)


def _wave(x):
    return np.sin(OMEGA * x)


wave = mg.primitive(_wave, name="wave").vjp(x=lambda g, x: g * np.cos(OMEGA * x))

# 256 samples of one breath
t = np.linspace(-1, 1, 256)[:, None]
sound = np.sin(9 * t) * np.exp(-(t**2)) + 0.4 * np.sin(23 * t + 1) + 0.3 * np.sin(37 * t)


def tensor(shape, bound):
    return mg.Tensor(rng.uniform(-bound, bound, shape), requires_grad=True)


width = 32
W1, b1 = tensor((1, width), 1.0), tensor((width,), 1.0)
W2, b2 = tensor((width, width), (6 / width) ** 0.5 / OMEGA), tensor((width,), 0.1)
W3, b3 = tensor((width, 1), (6 / width) ** 0.5 / 4), tensor((1,), 0.01)
weights = [W1, b1, W2, b2, W3, b3]
velocity = [np.zeros(w.shape) for w in weights]

for epoch in range(1000):
    h = wave(t @ W1 + b1)
    h = wave(h @ W2 + b2)
    out = h @ W3 + b3
    loss = ((out - sound) ** 2).mean()
    loss.backward()
    for w, v in zip(weights, velocity):
        v *= 0.9
        v -= 0.002 * w.grad.data
        w.data = w.data + v
        w.zero_grad()
    if epoch % 200 == 0:
        print(epoch, round(loss.item(), 4))
print("error of the copy:", round(loss.item(), 5), "of the mean sound:", round(float(sound.var()), 3))
