import numpy as np
import minigrad as mg
import nn

# The network hears a word of six symbols and then has to say how it began.
SYMBOLS, LENGTH = 6, 6
rng = np.random.default_rng(81)


def batch(size):
    tokens = rng.integers(0, SYMBOLS, (size, LENGTH))
    return tokens, tokens[:, 0]


table = nn.Embedding(SYMBOLS, 8, rng=rng)
cell = nn.GRUCell(8, 16, rng=rng)
out = nn.Affine(16, SYMBOLS, rng=rng)
parameters = [*table.parameters(), *cell.parameters(), *out.parameters()]
optimizer = nn.Adam(parameters, lr=0.01)


def listen(tokens):
    h = mg.Tensor(np.zeros((len(tokens), 16), np.float32))
    for t in range(tokens.shape[1]):
        h = cell(table(tokens[:, t]), h.detach())
    return out(h)


for step in range(500):
    tokens, first = batch(32)
    loss = nn.cross_entropy(listen(tokens), first)
    optimizer.zero_grad()
    loss.backward()
    nn.clip_grad_norm(parameters, 1.0)
    optimizer.step()
    if step % 100 == 99:
        print("step", step + 1, "loss", round(loss.item(), 4))

tokens, first = batch(500)
print("first symbol right:", np.mean(listen(tokens).numpy().argmax(axis=1) == first))
