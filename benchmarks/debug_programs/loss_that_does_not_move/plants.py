"""Three kinds of plants from four measures; the rate rises before it falls."""

import numpy as np

import nn

STEPS, WARMUP, PEAK = 300, 400, 0.05
rng = np.random.default_rng(9)
centres = rng.normal(0, 1.5, (3, 4))
kind = rng.integers(0, 3, 450)
measures = (centres[kind] + rng.normal(0, 0.7, (450, 4))).astype(np.float32)


class Net(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(4, 20, rng=rng)
        self.norm = nn.LayerNorm(20)
        self.output = nn.Affine(20, 3, rng=rng)

    def forward(self, x):
        return self.output(np.tanh(self.norm(self.hidden(x))))


def rate(step):
    rise = min(1, (step + 1) // WARMUP)
    fall = 1 - step / STEPS
    return PEAK * rise * fall


net = Net(np.random.default_rng(0))
optimizer = nn.SGD(net.parameters(), lr=PEAK)
picker = np.random.default_rng(1)
trace = []
for step in range(STEPS):
    rows = picker.permutation(350)[:64]
    loss = nn.cross_entropy(net(measures[rows]), kind[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.lr = rate(step)
    optimizer.step()
    trace.append(loss.item())

print("mean loss in six parts:", np.reshape(trace, (6, 50)).mean(axis=1).round(3))
net.eval()
print("right:", np.mean(net(measures[350:]).numpy().argmax(axis=1) == kind[350:]))
