"""A bigram-like language model whose output layer shares the table of the embedding."""

import numpy as np

import nn


class Model(nn.Module):
    def __init__(self, vocab, width, rng):
        self.embedding = nn.Embedding(vocab, width, rng=rng, std=0.2)
        self.mix = nn.Affine(width, width, rng=rng)
        self.output = nn.Parameter(self.embedding.weight.data.copy())

    def forward(self, ids):
        h = self.embedding(ids)
        return self.mix(h) @ self.output.T


# Words that mean the same (id and id + 30) stand with the same words; a pair has no direction.
rng = np.random.default_rng(166)
topic = rng.integers(0, 6, 60)
members = [np.flatnonzero(topic == t) for t in range(6)]
left = rng.integers(0, 60, 500)
right = np.array([rng.choice(members[topic[w]]) for w in left])
inputs, outputs = left[:200], right[:200]
val_inputs, val_outputs = left[200:], right[200:]

model = Model(60, 12, rng)
print(f"{model.num_parameters} parameters, of which {model.embedding.num_parameters} in the shared table")
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    for rows in np.split(rng.permutation(200), 5):
        loss = nn.cross_entropy(model(inputs[rows]), outputs[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 2 == 1:
        validation = nn.cross_entropy(model(val_inputs), val_outputs).item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, validation {validation:.4f}")
