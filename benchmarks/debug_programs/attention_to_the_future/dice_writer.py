# %% A writer of sequences in which each number is the sum of the two before it, modulo seven
import numpy as np
import nn

rng = np.random.default_rng(15)
BASE, LENGTH = 7, 10


def sequences(count):
    rows = rng.integers(0, BASE, (count, LENGTH + 1))
    for t in range(2, LENGTH + 1):
        rows[:, t] = (rows[:, t - 1] + rows[:, t - 2]) % BASE
    return rows


# %%
class Writer(nn.Module):
    def __init__(self, width, rng):
        self.tokens = nn.Embedding(BASE, width, rng=rng, std=0.5)
        self.places = nn.LearnedPositions(LENGTH, width, rng=rng, std=0.5)
        self.blocks = [nn.TransformerEncoderLayer(width, 2, 3 * width, rng=rng) for _ in range(2)]
        self.out = nn.Affine(width, BASE, rng=rng)

    def forward(self, ids):
        h = self.places(self.tokens(ids))
        for block in self.blocks:
            h = block(h)
        return self.out(h)


# %%
model = Writer(32, rng)
adam = nn.Adam(model.parameters(), lr=0.004)
for step in range(240):
    rows = sequences(32)
    adam.zero_grad()
    loss = nn.cross_entropy(model(rows[:, :-1]), rows[:, 1:])
    loss.backward()
    adam.step()
    if step % 80 == 0 or step == 239:
        print(step, round(loss.item(), 4))

# %% write on from the first three numbers
truth = sequences(100)
text = truth[:, :3]
while text.shape[1] <= LENGTH:
    text = np.concatenate([text, model(text).numpy()[:, -1:].argmax(-1)], axis=1)
print("written right:", (text == truth)[:, 3:].mean())
