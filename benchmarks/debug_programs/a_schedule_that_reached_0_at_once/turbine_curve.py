"""Power of a wind turbine from wind speed, direction, air density and turbulence; a network of two layers on plain arrays."""
import numpy as np
import minigrad as mg

STEPS, BATCH, PEAK = 600, 64, 0.2
rng = np.random.default_rng(8)

speed = rng.weibull(2.0, 3000) * 8
yaw = rng.normal(0, 12, 3000)
density = rng.normal(1.2, 0.05, 3000)
turbulence = rng.uniform(0.03, 0.25, 3000)
power = np.clip((np.clip(speed - 3, 0, None) / 9) ** 3, 0, 1) * density / 1.2 * np.cos(np.radians(yaw)) - 0.3 * turbulence
power = power + rng.normal(0, 0.02, 3000)

x = np.column_stack([speed, np.abs(yaw), density, turbulence])
x = (x - x[:2400].mean(axis=0)) / x[:2400].std(axis=0)
y = (power - power[:2400].mean()) / power[:2400].std()
x_train, y_train, x_test, y_test = x[:2400], y[:2400], x[2400:], y[2400:]

P = {
    "W1": rng.normal(size=(4, 32)) / 2, "b1": rng.normal(size=32) * 0.5,
    "W2": rng.normal(size=(32, 1)) / 32**0.5, "b2": np.zeros(1),
}


def predict(P, x):
    return (np.tanh(x @ P["W1"] + P["b1"]) @ P["W2"] + P["b2"])[:, 0]


def loss(P, x, y):
    return np.mean((predict(P, x) - y) ** 2)


def rate(step):
    """From PEAK down to 0 in a straight line."""
    return PEAK * ((STEPS - step) // STEPS)


gradient = mg.value_and_grad(loss)
for step in range(STEPS):
    rows = rng.integers(len(x_train), size=BATCH)
    value, g = gradient(P, x_train[rows], y_train[rows])
    for name in P:
        P[name] = P[name] - rate(step) * g[name]
    if step % 100 == 99:
        print(step + 1, round(float(value), 4))

print("test", round(float(loss(P, x_test, y_test)), 4))
