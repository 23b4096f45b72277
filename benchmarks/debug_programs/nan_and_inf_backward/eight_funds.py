# Choose the shares of eight funds: high return, low variance, and not everything in one fund.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(8)
returns = rng.normal(0.05, 0.2, size=(250, 8)) + np.linspace(-0.3, 0.3, 8)
mean, covariance = returns.mean(axis=0), np.cov(returns.T)


def shares(theta):
    positive = np.maximum(theta, 0.0)
    return positive / np.sum(positive)


def objective(theta):
    w = shares(theta)
    entropy = -np.sum(np.where(w > 0, w * np.log(w), 0.0))
    return -(mean @ w) + 2.0 * (w @ covariance @ w) - 0.01 * entropy


step_of = mg.value_and_grad(objective)
theta = np.full(8, 0.3)
for step in range(150):
    value, gradient = step_of(theta)
    theta = theta - 0.2 * gradient
    if step % 15 == 0:
        print(f"{step:4d}  objective {float(value):.5f}  largest share {shares(theta).max():.3f}")
print(shares(theta).round(3))
