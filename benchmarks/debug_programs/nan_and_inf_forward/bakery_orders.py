# how many loaves are ordered per day: a Poisson regression on weather and calendar
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(3)
days = 300
temperature = rng.normal(0, 1, days)
weekend = (np.arange(days) % 7 >= 5).astype(float)
rain = rng.random(days)
X = np.stack([temperature, weekend, rain], axis=1)
orders = rng.poisson(np.exp(0.9 - 0.8 * temperature + 0.7 * weekend - 0.4 * rain)).astype(float)

w = Tensor(np.zeros(3), requires_grad=True)
b = Tensor(1.0, requires_grad=True)
lr = 0.02

history = []
for epoch in range(600):
    rate = X @ w + b
    nll = (rate - orders * np.log(rate)).mean()
    nll.backward()
    for p in (w, b):
        p.data -= lr * p.grad.data
        p.zero_grad()
    history.append(nll.item())
    if epoch % 60 == 0:
        print(epoch, nll.item())

print("first", history[0], "last", history[-1])
print("weights", w.numpy().round(2), "intercept", b.numpy().round(2))
