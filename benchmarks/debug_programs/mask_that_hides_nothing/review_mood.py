"""Are there more cheerful words than gloomy ones in a review? Words 0-4 are cheerful, 5-9 gloomy."""

import numpy as np

import models
import nn

WORDS, PAD, LONGEST = 10, 10, 32
rng = np.random.default_rng(0)


def reviews(count):
    lengths = rng.integers(3, LONGEST + 1, count)
    ids = np.zeros((count, LONGEST), np.int64)
    labels = np.zeros(count, np.int64)
    for row, length in enumerate(lengths):
        words = rng.integers(0, WORDS, length)
        ids[row, :length] = words
        labels[row] = (words < 5).sum() * 2 > length
    return ids, labels


def loss(model, batch):
    ids, labels = batch
    return nn.cross_entropy(model(ids, ids != PAD), labels)


def validate(model):
    guess = model(test_ids, test_ids != PAD).numpy().argmax(axis=1)
    return {"accuracy": float(np.mean(guess == test_labels))}


train_ids, train_labels = reviews(800)
test_ids, test_labels = reviews(300)
config = models.ClassifierConfig(vocab_size=WORDS + 1, num_classes=2, d_model=16, num_heads=2, num_layers=1)
model = models.TransformerClassifier(config, rng=np.random.default_rng(1))
history = nn.fit(
    model,
    nn.Batches([train_ids, train_labels], 32, seed=0),
    loss,
    nn.Adam(model.parameters(), lr=0.005),
    epochs=8,
    validate=validate,
    progress=False,
)
print("losses", [round(value, 3) for value in history.losses[::50]])
print("accuracy", [round(value, 3) for value in history.metric("accuracy")])
