# %%
import numpy as np

import minigrad as mg

rng = np.random.default_rng(44)

# %% the truth table of "exactly two of four", with jitter
bits = rng.integers(0, 2, (480, 4))
answer = (bits.sum(axis=1) == 2).astype(float)
signal = 2.0 * bits - 1 + rng.normal(0, 0.15, bits.shape)

# %% a layer of gates, and a vote
gates = {"w": rng.normal(0, 0.7, (4, 4)), "b": rng.normal(0, 0.3, 4)}
vote = {"w": rng.normal(0, 0.3, 4), "b": np.array(0.0)}


def network(gates, vote, x):
    z = x @ gates["w"] + gates["b"]
    opened = np.heaviside(z, 0.5)
    return opened @ vote["w"] + vote["b"]


def loss(gates, vote, x, y):
    z = network(gates, vote, x)
    return np.mean(np.logaddexp(0, z) - y * z)


# %% gradient descent
slope = mg.value_and_grad(loss, (0, 1))
for step in range(1500):
    value, (dg, dv) = slope(gates, vote, signal[:400], answer[:400])
    gates = mg.tree_map(lambda p, d: p - 0.5 * d, gates, dg)
    vote = mg.tree_map(lambda p, d: p - 0.5 * d, vote, dv)
    if step % 250 == 0:
        print(step, round(float(value), 4))

# %% the rest of the table
decided = network(gates, vote, signal[400:]) > 0
print("right:", np.mean(decided == (answer[400:] > 0.5)))
print("steepest gate:", float(np.abs(gates["w"]).max()))
