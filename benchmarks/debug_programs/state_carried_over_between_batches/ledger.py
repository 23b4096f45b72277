"""Follow the balance of an account: after each booking, say how much is left."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(29)
MONTH, HIDDEN, BATCH = 8, 24, 32


def accounts(count):
    bookings = rng.normal(0, 0.5, (count, MONTH)) + rng.normal(0, 0.3, (count, 1))
    return bookings[:, :, None].astype(np.float32), np.cumsum(bookings, axis=1).astype(np.float32)


class Bookkeeper(nn.Module):
    def __init__(self, rng):
        self.gru = nn.GRU(1, HIDDEN, rng=rng)
        self.read = nn.Affine(HIDDEN, 1, rng=rng)

    def forward(self, x, memory=None):
        states, memory = self.gru(x, memory)
        return self.read(states)[:, :, 0], memory


bookings, balance = accounts(512)
model = Bookkeeper(np.random.default_rng(0))
optimizer = nn.Adam(model.parameters(), lr=0.01)
batches = nn.Batches([bookings, balance], BATCH, seed=3)
memory = None
for epoch in range(15):
    total = 0.0
    for x, y in batches.epoch(epoch):
        predicted, memory = model(x, memory)
        loss = nn.mean_squared_error(predicted, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory = memory.detach()
        total += loss.item()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  {total / len(batches):.4f}")

model.eval()
x, y = accounts(256)
with mg.no_grad():
    predicted, _ = model(x)
print(f"new accounts: {np.mean((predicted.numpy() - y) ** 2):.4f} (variance {y.var():.4f})")
