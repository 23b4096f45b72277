"""Pass six switch positions through a channel of three bits (straight-through estimator)."""
import numpy as np
import minigrad as mg

hard = mg.primitive(lambda x: np.where(x > 0, 1.0, -1.0), name="hard").vjp(
    x=lambda g, x: g * (abs(x) < 1.5),
)

rng = np.random.default_rng(205)
positions = np.eye(6)


def init():
    return {
        "enc": rng.normal(size=(6, 3)) * 0.5, "enc_b": np.zeros(3),
        "dec": rng.normal(size=(3, 16)) * 0.5, "dec_b": np.zeros(16),
        "out": rng.normal(size=(16, 6)) * 0.3, "out_b": np.zeros(6),
    }


def decode(p, bits):
    return np.tanh(bits @ p["dec"] + p["dec_b"]) @ p["out"] + p["out_b"]


def loss(p, x, label, noise):
    bits = hard(x @ p["enc"] + p["enc_b"] + noise)
    return mg.cross_entropy(decode(p, bits), label)


p = init()
m = {k: np.zeros_like(v) for k, v in p.items()}
gradient = mg.value_and_grad(loss)
for step in range(1500):
    label = rng.integers(0, 6, 48)
    value, g = gradient(p, positions[label], label, rng.normal(0, 0.1, (48, 3)))
    for k in p:
        m[k] = 0.9 * m[k] + g[k]
        p[k] = p[k] - 0.05 * m[k]
    if step % 300 == 0:
        print("step", step, "loss", round(float(value), 4))

bits = np.where(positions @ p["enc"] + p["enc_b"] > 0, 1.0, -1.0)
print("codes", bits.astype(int).tolist())
print("positions received:", np.mean(np.argmax(decode(p, bits), axis=1) == np.arange(6)))
