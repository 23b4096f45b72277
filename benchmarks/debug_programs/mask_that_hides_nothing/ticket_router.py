"""Send support tickets to the right desk: a Transformer over word ids."""
import argparse

import numpy as np
import models
import nn

DESKS, WORDS, WIDTH, PAD = 5, 41, 24, 0


def tickets(rng, count):
    """Tickets in a reused line buffer: a short ticket is followed by the rest of older ones."""
    line = rng.integers(1, WORDS, WIDTH)
    rows, desks, lengths = [], [], []
    for _ in range(count):
        desk, length = rng.integers(0, DESKS), rng.integers(1, 6)
        about = rng.random(length) < 0.9
        line[:length] = np.where(about, 1 + 5 * desk + rng.integers(0, 5, length), rng.integers(26, WORDS, length))
        rows.append(line.copy())
        desks.append(desk)
        lengths.append(length)
        line = np.roll(line, rng.integers(5, 12))
    return np.array(rows), np.array(desks), np.array(lengths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--width", type=int, default=16)
    options = parser.parse_args()

    rng = np.random.default_rng(61)
    ids, desks, lengths = tickets(rng, 900)
    mask = ids != PAD
    config = models.ClassifierConfig(vocab_size=WORDS, num_classes=DESKS, d_model=options.width, num_heads=2, num_layers=1)
    model = models.TransformerClassifier(config, rng=rng)

    def loss(model, batch):
        words, seen, labels = batch
        return nn.cross_entropy(model(words, seen), labels)

    batches = nn.Batches([ids[:700], mask[:700], desks[:700]], 35, seed=0)
    history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.005), epochs=options.epochs, progress=False)
    right = model(ids[700:], mask[700:]).numpy().argmax(axis=1) == desks[700:]
    print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-20:]):.3f}, new tickets {right.mean():.3f}")


if __name__ == "__main__":
    main()
