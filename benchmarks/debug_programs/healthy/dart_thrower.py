"""REINFORCE: which of three darts to throw from which distance, with a running mean as baseline."""
import numpy as np
from minigrad import Tensor, log_softmax

rng = np.random.default_rng(117)
reach = np.array([1.0, 2.5, 4.0])

theta1 = Tensor(rng.normal(size=(1, 16)), requires_grad=True)
bias1 = Tensor(rng.normal(size=16), requires_grad=True)
theta2 = Tensor(rng.normal(size=(16, 3)) * 0.1, requires_grad=True)
baseline, results = 0.0, []


def policy(distance):
    return log_softmax(np.tanh((distance[:, None] - 2.5) @ theta1 + bias1) @ theta2, axis=1)


for episode in range(600):
    distance = rng.uniform(0.5, 4.5, 32)
    logp = policy(distance)
    gumbel = -np.log(-np.log(rng.random((32, 3))))
    dart = (logp.numpy() + gumbel).argmax(axis=1)
    hit = (rng.random(32) < np.exp(-((distance - reach[dart]) ** 2))).astype(float)
    chosen = logp[np.arange(32), dart]
    loss = -(chosen * (hit - baseline)).mean()
    loss.backward()
    for p in (theta1, bias1, theta2):
        p.data -= 0.3 * p.grad
        p.zero_grad()
    baseline = 0.95 * baseline + 0.05 * hit.mean()
    results.append(hit.mean())
    if episode % 100 == 99:
        print(f"episodes to {episode + 1}: hits {np.mean(results[-100:]):.3f}")

d = np.linspace(0.5, 4.5, 200)
best = np.abs(d[:, None] - reach).argmin(1)
print("best dart chosen:", (policy(d).numpy().argmax(1) == best).mean().round(3), "first 50:", np.mean(results[:50]).round(3))
