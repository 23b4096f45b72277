"""The adding problem: sum the two marked numbers of a sequence."""
import numpy as np
import nn

rng = np.random.default_rng(112)
LENGTH = 8


def problems(n):
    numbers = rng.uniform(0, 1, (n, LENGTH))
    marks = np.zeros((n, LENGTH))
    for row in range(n):
        marks[row, rng.choice(LENGTH, 2, replace=False)] = 1
    return np.stack([numbers, marks], axis=2).astype(np.float32), (numbers * marks).sum(axis=1, keepdims=True).astype(np.float32)


class Adder(nn.Module):
    def __init__(self, units):
        self.lstm = nn.LSTM(2, units, rng=rng)
        self.read = nn.Affine(units, 1, rng=rng)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.read(states[:, -1])


adder = Adder(20)
optimizer = nn.Adam(adder.parameters(), lr=0.01)
clipped = 0
for step in range(250):
    x, y = problems(48)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(adder(x), y)
    loss.backward()
    clipped += nn.clip_grad_norm(adder.parameters(), 2.0) > 2.0
    optimizer.step()
    if step % 50 == 0 or step == 249:
        print(f"step {step:3d}: {loss.item():.5f}")
print("steps that were clipped:", clipped)
