"""Stock of a warehouse: read thirty days of deliveries and orders, and say how full it is in the end."""
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(31)
DAYS, UNITS = 30, 24


def journal(n):
    moves = rng.normal(0, 1, (n, DAYS, 2)).astype(np.float32)
    stock = np.zeros(n)
    for d in range(DAYS):
        stock = 0.9 * stock + moves[:, d, 0] - 0.5 * moves[:, d, 1]
    return moves, stock.astype(np.float32)[:, None]


class Clerk(nn.Module):
    def __init__(self):
        self.read = nn.Affine(2, UNITS, rng=rng)
        self.keep = nn.Affine(UNITS, UNITS, rng=rng, bias=False)
        self.keep.weight.data[:] = rng.normal(0, 0.5, (UNITS, UNITS))
        self.say = nn.Affine(UNITS, 1, rng=rng)

    def forward(self, moves):
        h = np.zeros((len(moves), UNITS), np.float32)
        for d in range(DAYS):
            h = mg.relu(self.read(moves[:, d]) + self.keep(h))
        return self.say(h)


clerk = Clerk()
moves, stock = journal(256)
optimizer = nn.Adam(clerk.parameters(), lr=0.005)
for step in range(150):
    rows = rng.integers(0, len(moves), 32)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(clerk(moves[rows]), stock[rows])
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(step, f"{loss.item():.3g}")
new_moves, new_stock = journal(100)
with mg.no_grad():
    off = clerk(new_moves).numpy() - new_stock
print("error", f"{np.sqrt(np.mean(off ** 2)):.3g}", "spread of the stock", f"{new_stock.std():.3g}")
