"""Poisson regression: claims per year from age, mileage and city."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(11)
n = 600
age = rng.uniform(18, 80, n)
mileage = rng.gamma(2.0, 8.0, n)
city = rng.integers(0, 2, n)
X = np.column_stack([(age - 49) / 18, (mileage - 16) / 11, city - 0.5, np.ones(n)])
true = np.array([-0.45, 0.6, 0.5, 0.1])
claims = rng.poisson(np.exp(X @ true))


def deviance(beta):
    rate = X @ beta
    return np.mean(rate - claims * np.log(rate))


step = mg.value_and_grad(deviance)
beta = np.array([0.0, 0.0, 0.0, 1.0])
for it in range(300):
    loss, g = step(beta)
    beta = beta - 0.2 * g
    if it % 50 == 0:
        print(it, round(float(loss), 4))

print("final", round(float(deviance(beta)), 4), "coefficients", beta.round(2))
