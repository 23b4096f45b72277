import numpy as np

import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(55)

# offsets of clocks against their temperature, voltage and age
X = rng.normal(size=(300, 3))
offset = (1.2 * X[:, 0] - 0.8 * X[:, 1] + np.tanh(2 * X[:, 2]) + rng.normal(0, 0.05, 300))[:, None]

STEP = 1.5


class Clock:
    def __init__(self, units):
        self.a = Tensor(rng.normal(0, 0.6, (3, units)), requires_grad=True)
        self.b = Tensor(np.zeros(units), requires_grad=True)
        self.c = Tensor(rng.normal(0, 0.3, (units, 1)), requires_grad=True)
        self.d = Tensor(np.zeros(1), requires_grad=True)

    def __iter__(self):
        return iter((self.a, self.b, self.c, self.d))

    def predict(self, x):
        return mg.sigmoid(x @ self.a + self.b) @ self.c + self.d


clock = Clock(16)
trail = []
for step in range(400):
    loss = abs(clock.predict(X) - offset).mean()
    loss.backward()
    for p in clock:
        p.data -= STEP * p.grad
        p.zero_grad()
    trail.append(loss.item())

for k in (0, 100, 200, 300, 394):
    print(k, np.round(trail[k : k + 6], 3).tolist())
print("mean offset left:", round(float(np.mean(trail[-50:])), 3))
