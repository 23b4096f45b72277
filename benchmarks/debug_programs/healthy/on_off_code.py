"""An autoencoder with a code of on/off units: forward a step, backward as if it were the line between -1 and 1."""

import numpy as np

import minigrad as mg

switch = mg.primitive(lambda x: np.where(x > 0, 1.0, -1.0), name="switch").vjp(
    x=lambda g, x: g * np.where(np.abs(x) <= 1, 1.0, 0.0)
)

rng = np.random.default_rng(89)
BITS = 4
book = np.linalg.qr(rng.normal(size=(24, BITS)))[0].T * 3
messages = rng.choice([-1.0, 1.0], (600, BITS))
waves = messages @ book + rng.normal(0, 0.2, (600, 24))

encoder = mg.Tensor(rng.normal(0, 0.05, (24, BITS)), requires_grad=True)
shift = mg.Tensor(np.zeros(BITS), requires_grad=True)
decoder = mg.Tensor(rng.normal(0, 0.3, (BITS, 24)), requires_grad=True)


def transmit(waves):
    return switch(waves @ encoder + shift)


def run(waves):
    return transmit(waves) @ decoder


rate = 0.2
for step in range(1500):
    rows = rng.integers(0, 500, 50)
    loss = ((run(waves[rows]) - waves[rows]) ** 2).mean()
    loss.backward()
    for p in (encoder, shift, decoder):
        p.data -= rate * (0.1 if p is encoder else 1.0) * p.grad
        p.zero_grad()
    if step % 250 == 0:
        print(f"step {step:4d}  {loss.item():.4f}")

rest = waves[500:]
print("error", ((run(rest).numpy() - rest) ** 2).mean().round(4), "variance", rest.var().round(4))
bits = transmit(rest).numpy()
agreement = np.abs(bits.T @ messages[500:]) / len(rest)
print("each sent bit has a unit that follows it:", agreement.max(axis=0).round(2))
