import numpy as np
import minigrad as mg

# two dials of an espresso machine -> does the panel like it?
rng = np.random.default_rng(8)
grind = rng.uniform(-1, 1, 200)
heat = rng.uniform(-1, 1, 200)
X = np.column_stack([grind, heat])
liked = (grind ** 2 + heat ** 2 < 0.55).astype(float)

HIDDEN = 12
LEARNING_RATE = 30.0
W1 = mg.Tensor(rng.normal(size=(2, HIDDEN)), requires_grad=True)
b1 = mg.Tensor(np.zeros(HIDDEN), requires_grad=True)
W2 = mg.Tensor(rng.normal(size=HIDDEN) / np.sqrt(HIDDEN), requires_grad=True)
b2 = mg.Tensor(0.0, requires_grad=True)
weights = [W1, b1, W2, b2]


def logit(x):
    return np.tanh(x @ W1 + b1) @ W2 + b2


losses = []
for step in range(800):
    z = logit(X)
    loss = (np.logaddexp(0.0, z) - liked * z).mean()
    for p in weights:
        p.zero_grad()
    loss.backward()
    for p in weights:
        p.data -= LEARNING_RATE * p.grad.data
    losses.append(loss.item())

print("every 80th:", np.round(losses[::80], 3))
print("last ten:  ", np.round(losses[-10:], 3))
print("accuracy:  ", np.mean((logit(X).numpy() > 0) == (liked > 0)))
