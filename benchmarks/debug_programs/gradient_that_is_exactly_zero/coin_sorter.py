import numpy as np
import nn

rng = np.random.default_rng(82)
coins = rng.normal(size=(400, 6)).astype(np.float32)
kind = (coins @ np.array([1, -1, 0.5, 0, 2, 0]) + 0.3 > 0).astype(np.int64)


class Sorter(nn.Module):
    def __init__(self, gates, rng):
        self.gate = nn.Affine(6, gates, rng=rng)
        self.decide = nn.Affine(gates, 2, rng=rng)

    def forward(self, x):
        gates = np.sign(self.gate(x))
        return self.decide(gates)


def accuracy(model):
    return {"accuracy": float((model(coins).numpy().argmax(axis=1) == kind).mean())}


sorter = Sorter(3, rng)
history = nn.fit(
    sorter,
    nn.Batches([coins, kind], 50, seed=4),
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.Adam(sorter.parameters(), lr=0.02),
    epochs=40,
    validate=accuracy,
    progress=False,
)
print("losses", [round(float(v), 3) for v in history.losses[::80]])
print("accuracy", history.metric("accuracy")[-1])
