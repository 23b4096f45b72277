"""An office's letters get a code of 12 bits each, from which the folder must be told; similar letters are then found by their bits."""
import numpy as np
import minigrad as mg
import nn

FOLDERS, WORDS, BITS = 9, 60, 12
rng = np.random.default_rng(87)
topics = rng.dirichlet(np.full(WORDS, 0.15), FOLDERS)


def letters(n):
    folder = rng.integers(FOLDERS, size=n)
    counts = np.stack([rng.multinomial(40, 0.8 * topics[k] + 0.2 / WORDS) for k in folder])
    return np.sqrt(counts).astype(np.float32), folder


class Codes(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(WORDS, 48, rng=rng)
        self.bits = nn.Affine(48, BITS, rng=rng)
        self.folder = nn.Affine(BITS, FOLDERS, rng=rng)

    def code(self, x):
        """Bits as -1 or 1. The derivative is that of tanh, because a step has none."""
        soft = np.tanh(self.bits(mg.relu(self.hidden(x))))
        hard = np.where(soft.numpy() > 0, 1, -1).astype(np.float32)
        return soft + mg.stop_gradient(hard - soft)

    def forward(self, x):
        return self.folder(self.code(x))


def by_neighbours(model, known, folder, asked, true):
    """The folder of the letter whose code differs in the fewest bits."""
    with mg.no_grad():
        a, b = model.code(asked).numpy() > 0, model.code(known).numpy() > 0
    differing = (a[:, None] != b).sum(axis=-1)
    return float(np.mean(folder[differing.argmin(axis=1)] == true))


x, folder = letters(1500)
x_test, folder_test = letters(400)
mean = x.mean(axis=0)
x, x_test = x - mean, x_test - mean
model = Codes(np.random.default_rng(5))
history = nn.fit(
    model, nn.Batches([x, folder], 50, seed=3), lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.AdamW(model.parameters(), lr=0.003), epochs=8,
    validate=lambda model: {"right": np.mean(model(x_test).numpy().argmax(axis=1) == folder_test)}, progress=False,
)
print("loss", f"{history.losses[0]:.3f}", f"{np.mean(history.losses[-20:]):.3f}")
print("right", [round(float(value), 3) for value in history.metric("right")[1::2]])
print("by the nearest code", round(by_neighbours(model, x, folder, x_test, folder_test), 3))
