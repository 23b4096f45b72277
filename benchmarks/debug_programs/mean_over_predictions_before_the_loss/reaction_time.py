import numpy as np

from minigrad import Tensor, relu

# Reaction time of drivers from age, hours awake and cups of coffee
rng = np.random.default_rng(130)
age, awake, coffee = rng.uniform(18, 80, 300), rng.uniform(1, 24, 300), rng.integers(0, 5, 300)
time = 0.2 + 0.002 * age + 0.01 * np.maximum(awake - 14, 0) - 0.01 * coffee + 0.01 * rng.normal(size=300)
x = np.stack([(age - 49) / 18, (awake - 12) / 7, (coffee - 2) / 1.4], axis=1)
y = (time - time.mean()) / time.std()

W1 = Tensor(rng.normal(0, 0.6, (3, 16)), requires_grad=True)
b1 = Tensor(np.zeros(16), requires_grad=True)
w2 = Tensor(rng.normal(0, 0.3, 16), requires_grad=True)
b2 = Tensor(0.0, requires_grad=True)
for epoch in range(300):
    prediction = relu(x @ W1 + b1) @ w2 + b2
    loss = (prediction - y).mean() ** 2
    loss.backward()
    for p in (W1, b1, w2, b2):
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if epoch % 30 == 0:
        print(f"epoch {epoch}: loss {loss.item():.6f}")
r2 = 1 - ((prediction.numpy() - y) ** 2).sum() / (y**2).sum()
print(f"explained variance {r2:.3f}")
