# Months in the cellar, predicted from five measurements of a wheel of cheese
import numpy as np
import minigrad as mg

rng = np.random.default_rng(2024)
wheels = 180
months = rng.uniform(1, 24, wheels)
measured = np.column_stack([
    0.42 - 0.006 * months + 0.005 * rng.normal(size=wheels),       # water
    0.8 + 0.09 * np.sqrt(months) + 0.02 * rng.normal(size=wheels),  # hardness
    5.2 + 0.02 * months + 0.05 * rng.normal(size=wheels),          # acidity
    rng.normal(12, 0.4, wheels),                                   # diameter
    rng.normal(4, 0.2, wheels),                                    # weight
])
x = (measured - measured.mean(axis=0)) / measured.std(axis=0)
y = (months - months.mean()) / months.std()

weights = [
    rng.normal(size=(5, 10)) / np.sqrt(5),
    np.zeros(10),
    rng.normal(size=10) / np.sqrt(10),
    np.zeros(()),
]


def predict(weights, x):
    u, a, v, c = weights
    return np.tanh(x @ u + a) @ v + c


def cost(weights):
    return np.mean((predict(weights, x) - y) ** 2)


rate = 0.1
for step in range(300):
    value, slopes = mg.value_and_grad(cost)(weights)
    if step % 30 == 0:
        print(f"step {step:3d}  cost {value:.5f}")
    for w, g in zip(weights, slopes):
        w = w - rate * g

guess = predict(weights, x) * months.std() + months.mean()
print("typical miss in months:", np.abs(guess - months).mean().round(2))
