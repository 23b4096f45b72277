"""A highway network: each layer decides by a gate how much it changes its input."""

import numpy as np

import nn
from minigrad import sigmoid


class Highway(nn.Module):
    def __init__(self, width, rng, gate_bias=-40.0):
        self.change = nn.Affine(width, width, rng=rng)
        self.gate = nn.Affine(width, width, rng=rng)
        self.gate.bias.data[:] = gate_bias

    def forward(self, x):
        gate = sigmoid(self.gate(x))
        return gate * np.tanh(self.change(x)) + (1 - gate) * x


class Network(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(2, 20, rng=rng)
        self.highway = [Highway(20, rng) for _ in range(3)]
        self.last = nn.Affine(20, 2, rng=rng)

    def forward(self, x):
        x = self.first(x)
        for layer in self.highway:
            x = layer(x)
        return self.last(x)


rng = np.random.default_rng(71)
x = rng.uniform(-1, 1, size=(500, 2)).astype(np.float32)
label = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
model = Network(rng)
batches = nn.Batches([x, label], 50, seed=0)
history = nn.fit(
    model,
    batches,
    lambda m, batch: nn.cross_entropy(m(batch[0]), batch[1]),
    nn.Adam(model.parameters(), lr=0.01),
    epochs=20,
    validate=lambda m: {"accuracy": (m(x).numpy().argmax(axis=1) == label).mean()},
    progress=False,
)
for epoch in range(0, 20, 2):
    accuracy = history.metrics[epoch]["accuracy"]
    print(f"epoch {epoch}: {np.mean(history.losses[10 * epoch : 10 * epoch + 10]):.4f}, accuracy {accuracy:.3f}")
