# Playground physics: the time of one swing from rope length, push and the child's weight.
import numpy as np
import nn

rng = np.random.default_rng(31)
rope = rng.uniform(1.0, 4.0, 200)
push = rng.uniform(0.1, 1.2, 200)
weight = rng.uniform(12, 45, 200)
period = 2 * np.pi * np.sqrt(rope / 9.81) * (1 + push ** 2 / 16)

inputs = np.column_stack([rope, push, weight])
inputs = ((inputs - inputs.mean(0)) / inputs.std(0)).astype(np.float32)
target = ((period - period.mean()) / period.std()).astype(np.float32)[:, None]


class Swing(nn.Module):
    def __init__(self, width, rng):
        self.first = nn.Affine(3, width, rng=rng)
        self.second = nn.Affine(width, width, rng=rng)
        self.last = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        x = np.tanh(self.first(x))
        x = np.tanh(self.second(x))
        return self.last(x)


model = Swing(16, np.random.default_rng(32))
optimizer = nn.SGD(model.parameters(), lr=0.6)
curve = []
for step in range(300):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(inputs), target)
    loss.backward()
    optimizer.step()
    curve.append(loss.item())

for i in range(0, 300, 25):
    print(i, *(f"{v:8.4f}" for v in curve[i:i + 4]))
print("mean of the last fifty:", round(float(np.mean(curve[-50:])), 4))
