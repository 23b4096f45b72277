# sugar in the must -> how strong the cider becomes, per barrel
import numpy as np
import minigrad as mg

rng = np.random.default_rng(14)
sugar = rng.uniform(8, 16, 300)
warmth = rng.uniform(6, 22, 300)
weeks = rng.uniform(2, 12, 300)
strength = 0.5 * sugar * (1 - np.exp(-weeks * warmth / 60)) + rng.normal(0, 0.1, 300)

inputs = np.column_stack([(sugar - 12) / 2.3, (warmth - 14) / 4.6, (weeks - 7) / 2.9])
wanted = (strength - strength.mean()) / strength.std()


class Press:
    """Two layers, and a step of gradient descent."""

    def __init__(self, hidden=16, bound=0.1):
        self.bound = bound
        self.w = mg.Tensor(rng.normal(0, 0.5, (3, hidden)), requires_grad=True)
        self.b = mg.Tensor(np.zeros(hidden), requires_grad=True)
        self.v = mg.Tensor(rng.normal(0, 0.25, hidden), requires_grad=True)
        self.c = mg.Tensor(0.0, requires_grad=True)

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b) @ self.v + self.c

    def descend(self, rate):
        for p in (self.w, self.b, self.v, self.c):
            p.data = p.data - rate * p.grad.data
            p.data = np.clip(p.data, -self.bound, self.bound)
            p.zero_grad()


press = Press()
for barrel_round in range(800):
    rows = rng.choice(240, 40, replace=False)
    loss = ((press(inputs[rows]) - wanted[rows]) ** 2).mean()
    loss.backward()
    press.descend(0.1)
    if barrel_round % 200 == 199:
        print(barrel_round + 1, f"{loss.item():.4f}")

rest = press(inputs[240:]).numpy() - wanted[240:]
print(f"error on sixty other barrels: {np.mean(rest**2):.4f}")
