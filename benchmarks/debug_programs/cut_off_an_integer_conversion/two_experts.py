import numpy as np

from minigrad import Tensor

# Three linear experts, and a gate that says who answers. The target bends at -1 and at 1.
rng = np.random.default_rng(33)
x = rng.uniform(-3, 3, size=(300, 1))
y = np.where(x < -1, -2 * x - 3, np.where(x > 1, 3 * x - 5, x - 0.5))[:, 0]

gate_w = Tensor(rng.normal(size=(1, 3)), requires_grad=True)
gate_b = Tensor(rng.normal(size=3), requires_grad=True)
slope = Tensor(rng.normal(size=3), requires_grad=True)
offset = Tensor(rng.normal(size=3), requires_grad=True)
everything = [gate_w, gate_b, slope, offset]

for step in range(1500):
    scores = x @ gate_w + gate_b
    answers = x * slope + offset
    expert = scores.argmax(axis=1)
    prediction = answers[np.arange(300), expert]
    loss = ((prediction - y) ** 2).mean()
    loss.backward()
    for p in everything:
        if p.grad is not None:
            p.data -= 0.05 * p.grad
        p.zero_grad()
    if step % 150 == 0:
        counts = np.bincount(scores.numpy().argmax(axis=1), minlength=3)
        print(f"step {step}: loss {loss.item():.4f}, answers per expert {counts}")
