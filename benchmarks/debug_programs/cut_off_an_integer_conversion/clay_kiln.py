# The glaze of a pot from the readings of ten thermocouples: three tones from 0 to 255, and from them the colour
import numpy as np
import minigrad as mg

rng = np.random.default_rng(60)
heat = rng.normal(size=(800, 10))
hidden_rule = rng.normal(size=(10, 3)) * 0.6
colour = 1 / (1 + np.exp(-heat @ hidden_rule)) @ rng.normal(size=(3, 2)) * 2

params = {
    "couple": mg.Tensor(rng.normal(0, 0.3, (10, 3)), requires_grad=True),
    "bias": mg.Tensor(np.zeros(3), requires_grad=True),
    "mix": mg.Tensor(rng.normal(0, 0.6, (3, 2)), requires_grad=True),
    "base": mg.Tensor(np.zeros(2), requires_grad=True),
}


def glaze(p, x):
    tone = mg.sigmoid(x @ p["couple"] + p["bias"]) * 255
    tone = tone.astype(np.int64)
    return (tone / 255) @ p["mix"] + p["base"]


def train(p, steps, rate):
    for step in range(steps):
        pick = rng.integers(640, size=50)
        off = glaze(p, heat[pick]) - colour[pick]
        loss = np.mean(off * off)
        loss.backward()
        for tensor in p.values():
            if tensor.grad is not None:
                tensor.data -= rate * tensor.grad
                tensor.zero_grad()
        if step % 400 == 0:
            print(step, f"{loss.item():.4f}")


train(params, 2000, 0.3)
with mg.no_grad():
    left = glaze(params, heat[640:]).numpy() - colour[640:]
print("left over:", f"{np.mean(left**2):.4f}", "of", f"{colour[640:].var():.4f}")
