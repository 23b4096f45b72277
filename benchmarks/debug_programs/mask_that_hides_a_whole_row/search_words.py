"""Which department of a shop does a search belong to? A query has one to four words, padded with 0."""
import numpy as np
import nn

WORDS, DEPARTMENTS, LONGEST = 41, 4, 4
rng = np.random.default_rng(77)
length = rng.choice([1, 2, 3, 4], 600, p=[0.4, 0.3, 0.2, 0.1])
department = rng.integers(0, DEPARTMENTS, 600)
queries = np.zeros((600, LONGEST), np.int64)
for row, n, d in zip(queries, length, department):
    row[:n] = 1 + d * 10 + rng.integers(0, 10, n)
mask = nn.padding_mask(length - 1, LONGEST)


class Router(nn.Module):
    def __init__(self, width, rng):
        self.words = nn.Embedding(WORDS, width, rng=rng, padding_idx=0)
        self.question = nn.Parameter(rng.normal(0, 0.3, (1, 1, width)).astype(np.float32))
        self.attention = nn.MultiHeadAttention(width, 2, rng=rng)
        self.desk = nn.Affine(width, DEPARTMENTS, rng=rng)

    def forward(self, ids, mask):
        words = self.words(ids)
        question = np.broadcast_to(self.question, (len(ids), 1, words.shape[-1]))
        summary = self.attention(question, words, words, key_mask=mask)
        return self.desk(summary[:, 0])


def loss(model, batch):
    ids, mask, labels = batch
    return nn.cross_entropy(model(ids, mask), labels)


model = Router(16, np.random.default_rng(78))
data = nn.Batches([queries[:450], mask[:450], department[:450]], 30, seed=1)
history = nn.fit(model, data, loss, nn.AdamW(model.parameters(), lr=0.01), epochs=20, progress=False)
guess = model(queries[450:], mask[450:]).numpy().argmax(axis=1)
for n in range(1, LONGEST + 1):
    some = length[450:] == n
    print(n, "words:", f"{(guess[some] == department[450:][some]).mean():.2f} right of {some.sum()}")
print("loss", np.mean(history.losses[-15:]).round(3))
