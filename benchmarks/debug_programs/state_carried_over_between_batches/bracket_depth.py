"""A recurrent network reads a string of brackets and says at each character how deep it is."""
import numpy as np
import nn

rng = np.random.default_rng(14)
LENGTH, BATCH, WIDTH = 12, 32, 24


def strings(count, rng):
    symbols = rng.integers(0, 2, (count, LENGTH))           # 0 is "(", 1 is ")"
    depth = np.cumsum(np.where(symbols == 0, 1.0, -1.0), axis=1)
    return symbols, depth[..., None].astype(np.float32) / 4


class Depth(nn.Module):
    def __init__(self, rng):
        self.table = nn.Embedding(2, 8, rng=rng)
        self.cell = nn.GRUCell(8, WIDTH, rng=rng)
        self.read = nn.Affine(WIDTH, 1, rng=rng)

    def forward(self, symbols, h):
        x = self.table(symbols)
        out = []
        for t in range(LENGTH):
            h = self.cell(x[:, t], h)
            out.append(self.read(h))
        return np.stack(out, axis=1), h


model = Depth(np.random.default_rng(5))
optimizer = nn.Adam(model.parameters(), lr=0.005)
h = np.zeros((BATCH, WIDTH), np.float32)
for step in range(400):
    symbols, depth = strings(BATCH, rng)
    optimizer.zero_grad()
    guess, h = model(symbols, h)
    loss = nn.mean_squared_error(guess, depth)
    loss.backward()
    optimizer.step()
    h = h.detach()
    if step % 80 == 79:
        print("step", step + 1, "loss", round(loss.item(), 4))

symbols, depth = strings(BATCH, np.random.default_rng(99))
guess, _ = model(symbols, np.zeros((BATCH, WIDTH), np.float32))
print("new strings:", round(nn.mean_squared_error(guess, depth).item(), 4))
