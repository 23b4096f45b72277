"""The pitch of the loudest note: attention over ten notes, and a straight line after it."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(6)
volume = rng.uniform(0, 1, (500, 10))
pitch = rng.normal(size=(500, 10))
target = pitch[np.arange(500), volume.argmax(axis=1)]
notes = np.stack([volume, pitch], axis=-1)

key = Tensor(rng.normal(size=2) * 0.1, requires_grad=True)
value = Tensor(rng.normal(size=2) * 0.1, requires_grad=True)
shift = Tensor(0.0, requires_grad=True)


def softmax(scores):
    scores = scores.numpy()
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def model(notes):
    weights = softmax(4 * (notes @ key))
    return (weights * (notes @ value)).sum(axis=1) + shift


for step in range(300):
    loss = ((model(notes) - target) ** 2).mean()
    loss.backward()
    for p in (key, value, shift):
        if p.grad is not None:
            p.data -= 0.2 * p.grad
            p.zero_grad()
    if step % 60 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}, key {key.numpy().round(3)}, value {value.numpy().round(3)}")
