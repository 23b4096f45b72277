"""Recognise one of five tram lines from noisy timetables: a softmax network written by hand in float32."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(5)
centres = rng.normal(size=(5, 12)) * 20
labels = rng.integers(0, 5, 600)
times = (centres[labels] + rng.normal(size=(600, 12)) * 20).astype(np.float32)

W1 = Tensor(rng.normal(size=(12, 32)).astype(np.float32) * 0.25, requires_grad=True)
b1 = Tensor(np.zeros(32, np.float32), requires_grad=True)
W2 = Tensor(rng.normal(size=(32, 5)).astype(np.float32) * 0.2, requires_grad=True)
b2 = Tensor(np.zeros(5, np.float32), requires_grad=True)
parameters = [W1, b1, W2, b2]


def forward(x):
    hidden = np.maximum(x @ W1 + b1, 0)
    return hidden @ W2 + b2


def softmax(z):
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


for epoch in range(12):
    order = rng.permutation(600)
    total = 0.0
    for start in range(0, 600, 50):
        rows = order[start : start + 50]
        p = softmax(forward(times[rows]))
        loss = -np.log(p[np.arange(50), labels[rows]] + 1e-7).mean()
        loss.backward()
        for p in parameters:
            p.data -= np.float32(0.02) * p.grad
            p.zero_grad()
        total += loss.item()
    print(f"epoch {epoch}: {total / 12:.4f}")
guess = forward(times).numpy().argmax(axis=1)
print("accuracy", (guess == labels).mean())
