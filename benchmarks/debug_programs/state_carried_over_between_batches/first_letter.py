# %%
import numpy as np
import nn

rng = np.random.default_rng(24)
LENGTH, HIDDEN = 5, 32


# %% strings of four letters; the label of a string says how often its first letter comes again
def strings(n):
    letters = rng.integers(0, 4, (n, LENGTH))
    return letters, (letters == letters[:, :1]).sum(axis=1) - 1


# %%
class Reader(nn.Module):
    def __init__(self, rng):
        self.symbol = nn.Embedding(4, 8, rng=rng)
        self.cell = nn.GRUCell(8, HIDDEN, rng=rng)
        self.out = nn.Affine(HIDDEN, LENGTH, rng=rng)
        self.h = None

    def forward(self, letters):
        h = self.h
        if h is None:
            h = np.zeros((len(letters), HIDDEN), np.float32)
        x = self.symbol(letters)
        for t in range(letters.shape[1]):
            h = self.cell(x[:, t], h)
        self.h = h.detach()
        return self.out(h)


# %%
reader = Reader(rng)
adam = nn.Adam(reader.parameters(), lr=0.01)
for step in range(420):
    letters, repeats = strings(50)
    adam.zero_grad()
    loss = nn.cross_entropy(reader(letters), repeats)
    loss.backward()
    adam.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 4))

# %%
letters, repeats = strings(50)
print("loss", round(loss.item(), 4), "right", (reader(letters).numpy().argmax(1) == repeats).mean())
