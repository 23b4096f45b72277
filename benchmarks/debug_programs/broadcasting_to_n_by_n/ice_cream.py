# %% sales of ice cream
import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(63)
temperature = rng.uniform(10, 35, 120)
weekend = rng.integers(0, 2, 120)
sales = 20 + 6 * (temperature - 22) + 40 * weekend + 5 * rng.normal(size=120)

# %% prepare
X = np.stack([(temperature - 22) / 7, weekend], axis=1)
y = (sales - sales.mean()) / sales.std()

# %% fit
w = Tensor(np.zeros((2, 1)), requires_grad=True)
b = Tensor(np.zeros(1), requires_grad=True)
for step in range(300):
    prediction = X @ w + b
    loss = ((prediction - y) ** 2).mean()
    loss.backward()
    for p in (w, b):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if step % 60 == 0:
        print(step, round(loss.item(), 4))

# %% result
print("loss", round(loss.item(), 4))
print("weights", w.numpy().ravel().round(3), "bias", b.numpy().round(3))
