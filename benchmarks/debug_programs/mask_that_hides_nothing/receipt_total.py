"""Is the balance of a receipt positive? Receipts of 2 to 4 lines are cut from one long buffer of item codes."""
import numpy as np
import nn

rng = np.random.default_rng(31)
N, L, VOCAB = 512, 10, 20
lengths = rng.integers(2, 5, N)
tokens = rng.integers(0, VOCAB, (N, L))
inside = np.arange(L)[None, :] < lengths[:, None]
price = rng.normal(size=VOCAB)
labels = ((price[tokens] * inside).sum(axis=1) > 0).astype(np.int64)


class Pool(nn.Module):
    def __init__(self, width, rng):
        self.table = nn.Embedding(VOCAB, width, rng=rng)
        self.query = nn.Parameter(rng.normal(size=width).astype(np.float32) * 0.1)
        self.hidden = nn.Affine(width, width, rng=rng)
        self.out = nn.Affine(width, 2, rng=rng)

    def forward(self, ids, keep):
        x = self.table(ids)
        scores = x @ self.query
        scores = scores + (1.0 - keep) * -1e-9
        weights = nn.functional.softmax(scores, axis=-1)
        pooled = (weights[:, :, None] * x).sum(axis=1)
        return self.out(np.tanh(self.hidden(pooled)))


keep = inside.astype(np.float32)
model = Pool(12, np.random.default_rng(2))
optimizer = nn.Adam(model.parameters(), lr=0.005)
order = np.random.default_rng(4)
for epoch in range(30):
    total = 0.0
    for index in np.split(order.permutation(384), 12):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(tokens[index], keep[index]), labels[index])
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        guess = model(tokens[384:], keep[384:]).numpy().argmax(axis=1)
        print(f"epoch {epoch + 1:3d}  loss {total / 12:.4f}  unseen {np.mean(guess == labels[384:]):.3f}")
