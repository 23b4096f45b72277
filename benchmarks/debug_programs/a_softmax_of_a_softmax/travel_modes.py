"""How did somebody travel? Eight modes, from the speeds, stops and accelerations of a phone's trace."""
import numpy as np
import minigrad as mg
import nn

MODES = ["walk", "run", "bike", "scooter", "car", "bus", "tram", "train"]
rng = np.random.default_rng(23)
typical = np.array([
    [1.4, 0.3, 0.2, 0.5, 0.1], [2.8, 0.2, 0.6, 0.9, 0.1], [4.5, 0.6, 0.5, 0.6, 0.3], [5.5, 0.9, 0.8, 0.2, 0.3],
    [11, 1.1, 1.4, 0.1, 0.7], [7, 2.2, 1.1, 0.3, 0.6], [7.5, 2.0, 0.7, 0.1, 0.8], [22, 0.4, 0.4, 0.1, 0.9],
])


def traces(n):
    mode = rng.integers(8, size=n)
    x = typical[mode] * rng.lognormal(0, 0.4, (n, 5))
    return np.log(x).astype(np.float32), mode


class Mode(nn.Module):
    """Two hidden layers; the answer is a probability for each mode."""

    def __init__(self, rng, width=32):
        self.hidden = nn.Affine(5, width, rng=rng)
        self.deeper = nn.Affine(width, width, rng=rng)
        self.answer = nn.Affine(width, len(MODES), rng=rng)

    def forward(self, x):
        h = mg.relu(self.deeper(mg.relu(self.hidden(x))))
        return mg.softmax(self.answer(h), axis=-1)


def validate(model):
    found = model(x_test)
    return {
        "loss": nn.cross_entropy(found, mode_test).item(),
        "right": np.mean(found.numpy().argmax(axis=1) == mode_test),
    }


x_train, mode_train = traces(2400)
x_test, mode_test = traces(800)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

model = Mode(np.random.default_rng(2))
batches = nn.Batches([x_train, mode_train], 60, seed=9)
history = nn.fit(
    model, batches, lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.SGD(model.parameters(), lr=0.02, momentum=0.9), epochs=7,
    schedule=nn.linear_schedule(0.02, 7 * len(batches)), validate=validate, progress=False,
)
for name in ("loss", "right"):
    print(name, [round(float(value), 3) for value in history.metric(name)[::3]])
