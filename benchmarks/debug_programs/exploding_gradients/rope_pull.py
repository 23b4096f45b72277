"""Teams pull a rope for twelve seconds. Which of two teams has pulled more, by a recurrent network written out."""
import numpy as np
import minigrad as mg
import nn


class Puller:
    """h = relu(x A + h B + c), and a decision from the last h."""

    def __init__(self, inputs, hidden, classes, rng):
        self.A = nn.Parameter(rng.normal(0, 1, (inputs, hidden)) / np.sqrt(inputs))
        self.B = nn.Parameter(rng.normal(0, 1, (hidden, hidden)))
        self.c = nn.Parameter(np.zeros(hidden))
        self.D = nn.Parameter(rng.normal(0, 1, (hidden, classes)) / np.sqrt(hidden))

    def parameters(self):
        return [self.A, self.B, self.c, self.D]

    def __call__(self, pulls):
        h = np.zeros((len(pulls), len(self.c)))
        for second in range(pulls.shape[1]):
            h = mg.relu(pulls[:, second] @ self.A + h @ self.B + self.c)
        return h @ self.D


def contests(count, rng):
    pulls = rng.normal(size=(count, 12, 2))
    return pulls, (pulls[:, :, 0].sum(axis=1) > pulls[:, :, 1].sum(axis=1)).astype(int)


rng = np.random.default_rng(16)
pulls, winner = contests(640, rng)
new_pulls, new_winner = contests(300, rng)
net = Puller(2, 32, 2, rng)
optimizer = nn.SGD(net.parameters(), lr=0.05)

for epoch in range(31):
    mean = 0.0
    for first in range(0, 640, 32):
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(pulls[first:first + 32]), winner[first:first + 32])
        loss.backward()
        optimizer.step()
        mean += loss.item() / 20
    if epoch % 6 == 0:
        print(f"epoch {epoch}: loss {mean:.4g}")
print(f"right in new contests: {np.mean(net(new_pulls).numpy().argmax(axis=1) == new_winner):.3f}")
