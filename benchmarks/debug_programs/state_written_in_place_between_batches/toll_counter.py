"""A recurrent network reads a day of passing carts and tells the toll that was paid."""
import numpy as np
import minigrad as mg
import nn

HOURS, CARTS, WIDTH, BATCH = 14, 3, 20, 32
PRICES = np.array([1.0, 2.5, 4.0])
rng = np.random.default_rng(12)


def days(count):
    passed = rng.random((count, HOURS, CARTS)) < 0.25
    toll = np.tanh((passed @ PRICES).sum(axis=1) / 12 - 2)
    return passed.astype(np.float32), toll.astype(np.float32)


class Counter:
    def __init__(self):
        self.cell = nn.GRUCell(CARTS, WIDTH, rng=rng)
        self.out = nn.Affine(WIDTH, 1, rng=rng)
        self.state = np.zeros((BATCH, WIDTH), np.float32)

    def parameters(self):
        return [*self.cell.parameters(), *self.out.parameters()]

    def read(self, day):
        h = mg.Tensor(self.state)
        for hour in range(HOURS):
            h = self.cell(day[:, hour], h)
        return self.out(h)[:, 0], h


def main():
    counter = Counter()
    optimizer = nn.Adam(counter.parameters(), lr=0.01)
    passed, toll = days(640)
    errors = []
    for epoch in range(15):
        order = rng.permutation(len(passed))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            optimizer.zero_grad()
            said, last = counter.read(passed[chosen])
            loss = nn.mean_squared_error(said, toll[chosen])
            loss.backward()
            optimizer.step()
            counter.state[:] = last.numpy()
            errors.append(loss.item())
        print(f"epoch {epoch}: {np.mean(errors[-20:]):.4f}")
    print(f"final error {np.mean(errors[-20:]):.4f}, variance of the tolls {toll.var():.3f}")


main()
