import numpy as np

import minigrad as mg

# %%
# Measurements of a damped spring: time and position.
rng = np.random.default_rng(53)
t = np.linspace(0, 6, 120)
position = 1.7 * np.exp(-0.35 * t) * np.cos(2.4 * t) + rng.normal(0, 0.03, t.size)


# %%
def model(p, t):
    amplitude, damping, frequency = p
    return amplitude * np.exp(-damping * t) * np.cos(frequency * t)


def misfit(p, t, position):
    return np.mean((model(p, t) - position) ** 2)


# %%
start = [np.array(1.0), np.array(0.1), np.array(2.1)]
params = [p.copy() for p in start]
value_and_grad = mg.value_and_grad(misfit)
rate = 0.05

for step in range(800):
    value, gradients = value_and_grad(params, t, position)
    for p, g in zip(params, gradients):
        p = p - rate * g
    if step % 160 == 0:
        print(f"step {step:3d}  misfit {float(value):.5f}")

# %%
for name, before, after in zip(["amplitude", "damping", "frequency"], start, params):
    print(f"{name:10s} {float(before):6.3f} -> {float(after):6.3f}")
print("misfit", round(float(misfit(params, t, position)), 5), "noise", 0.03**2)
