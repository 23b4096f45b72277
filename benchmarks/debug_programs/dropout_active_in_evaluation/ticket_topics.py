"""Topics of short tickets: four topics, each with its own favourite words."""

import models
import numpy as np
import nn

rng = np.random.default_rng(41)
VOCAB, LENGTH, TOPICS = 40, 12, 4
favourites = rng.dirichlet(np.full(VOCAB, 1.2), TOPICS)


def tickets(count):
    topic = rng.integers(0, TOPICS, count)
    words = np.stack([rng.choice(VOCAB, LENGTH, p=favourites[t]) for t in topic])
    return words, topic


words, topic = tickets(700)
config = models.ClassifierConfig(
    vocab_size=VOCAB, num_classes=TOPICS, d_model=16, num_heads=2, num_layers=2, hidden=32, dropout=0.6
)
model = models.TransformerClassifier(config, rng=rng)
model.train()
optimizer = nn.Adam(model.parameters(), lr=0.005)
for step in range(400):
    rows = rng.integers(0, 500, 32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(words[rows]), topic[rows])
    loss.backward()
    optimizer.step()


def report(words, topic):
    first = model(words).numpy().argmax(axis=1)
    second = model(words).numpy().argmax(axis=1)
    print(f"accuracy {np.mean(first == topic):.3f}, the same twice {np.mean(first == second):.3f}")


report(words[500:], topic[500:])
