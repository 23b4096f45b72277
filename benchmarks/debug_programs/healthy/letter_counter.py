"""How often does the first token of a message occur in it? Messages are padded; self-attention with a key mask."""
import numpy as np
import nn

PAD, VOCAB, LONGEST = 0, 7, 9


def messages(n, rng):
    length = rng.integers(4, LONGEST + 1, n)
    ids = rng.integers(1, VOCAB, (n, LONGEST))
    ids[np.arange(LONGEST) >= length[:, None]] = PAD
    count = ((ids == ids[:, :1]) & (ids != PAD)).sum(axis=1)
    return ids, np.minimum(count, 4) - 1


class Counter(nn.Module):
    def __init__(self, width, rng):
        self.embedding = nn.Embedding(VOCAB, width, rng=rng)
        self.place = nn.LearnedPositions(LONGEST, width, rng=rng, std=0.3)
        self.layers = [nn.TransformerEncoderLayer(width, 4, 2 * width, rng=rng) for _ in range(2)]
        self.norm = nn.LayerNorm(width)
        self.head = nn.Affine(width, 4, rng=rng)

    def forward(self, ids):
        x = self.place(self.embedding(ids))
        for layer in self.layers:
            x = layer(x, key_mask=ids != PAD)
        return self.head(self.norm(x)[:, 0])


def objective(model, batch):
    ids, count = batch
    return nn.cross_entropy(model(ids), count)


train = messages(1500, np.random.default_rng(210))
test = messages(300, np.random.default_rng(211))
model = Counter(32, np.random.default_rng(0))
batches = nn.Batches(list(train), 50, seed=0)
history = nn.fit(
    model, batches, objective, nn.Adam(model.parameters(), lr=0.003), epochs=15, clip_norm=1.0, progress=False,
    validate=lambda m: {"accuracy": np.mean(m(test[0]).numpy().argmax(axis=1) == test[1])},
)
print("loss", round(history.losses[0], 3), "->", round(history.losses[-1], 4))
print("accuracy", np.round(history.metric("accuracy")[::3], 3), round(history.metric("accuracy")[-1], 3))
