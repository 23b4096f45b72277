# %% u'' = -4 u with u(0) = 1 and u'(0) = 0, solved by a network of the time
import numpy as np
import minigrad as mg

rng = np.random.default_rng(113)
t = np.linspace(0, 2, 40)
theta = {
    "w": rng.normal(size=20) * 1.5,
    "b": rng.normal(size=20),
    "v": rng.normal(size=20) * 0.2,
}


# %% the trial solution satisfies both conditions at zero
def u(theta, t):
    net = np.tanh(t[:, None] * theta["w"] + theta["b"]) @ theta["v"]
    return 1 + t * t * net


def second(theta, t):
    slope = lambda s: mg.jvp(lambda r: u(theta, r), (s,), (np.ones(len(t)),))[1]
    return mg.jvp(slope, (t,), (np.ones(len(t)),))[1]


def residual(theta):
    return np.mean((second(theta, t) + 4 * u(theta, t)) ** 2)


# %% Adam, written out
m = {k: np.zeros_like(p) for k, p in theta.items()}
s = {k: np.zeros_like(p) for k, p in theta.items()}
slope_of = mg.value_and_grad(residual)
for i in range(1, 601):
    value, g = slope_of(theta)
    for k in theta:
        m[k] = 0.9 * m[k] + 0.1 * g[k]
        s[k] = 0.99 * s[k] + 0.01 * g[k] ** 2
        theta[k] = theta[k] - 0.02 * (m[k] / (1 - 0.9**i)) / (np.sqrt(s[k] / (1 - 0.99**i)) + 1e-8)
    if i % 150 == 0 or i == 1:
        print(i, "residual", round(float(value), 5), "largest error", np.abs(u(theta, t) - np.cos(2 * t)).max().round(4))
