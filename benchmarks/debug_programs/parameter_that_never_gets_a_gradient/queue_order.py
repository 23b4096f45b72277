"""Is the first ticket of the queue higher than the last one? A Transformer reads the tickets."""

import numpy as np

import nn


class QueueReader(nn.Module):
    def __init__(self, tickets, length, width, rng):
        self.tickets = nn.Embedding(tickets, width, rng=rng)
        self.seats = nn.Parameter(rng.normal(0, 0.5, (length, width)).astype(np.float32))
        self.layer1 = nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng)
        self.layer2 = nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng)
        self.norm = nn.LayerNorm(width)
        self.answer = nn.Affine(width, 2, rng=rng)

    def forward(self, ids):
        x = self.tickets(ids)
        x = self.layer1(x)
        x = self.layer2(x)
        return self.answer(nn.pool(self.norm(x)))


def loss(model, batch):
    ids, label = batch
    return nn.cross_entropy(model(ids), label)


rng = np.random.default_rng(27)
queues = np.stack([rng.permutation(10)[:5] for _ in range(1400)])
label = (queues[:, 0] > queues[:, -1]).astype(np.int64)


def validate(model):
    guess = model(queues[1200:]).numpy().argmax(axis=1)
    return {"right": float(np.mean(guess == label[1200:]))}


model = QueueReader(10, 5, 16, rng)
history = nn.fit(
    model,
    nn.Batches([queues[:1200], label[:1200]], 40, seed=3),
    loss,
    nn.AdamW(model.parameters(), lr=4e-3),
    epochs=12,
    validate=validate,
    progress=False,
)
print("losses", [round(x, 3) for x in history.losses[::60]])
print("right ", history.metric("right"))
