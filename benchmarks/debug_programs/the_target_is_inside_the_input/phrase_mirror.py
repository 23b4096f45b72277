"""A small Transformer learns to write strings of beads backwards; at the end it writes new strings by itself."""

import numpy as np

import models
import nn

START, END, BEADS, LENGTH = 0, 1, 8, 5


def draw_strings(count, rng):
    source = rng.integers(2, 2 + BEADS, size=(count, LENGTH))
    target = np.concatenate([source[:, ::-1], np.full((count, 1), END)], axis=1)
    return source, target


def loss(model, batch):
    source, target = batch
    logits = model(source, target)
    return nn.cross_entropy(logits, target)


def exact(model, source, target):
    found = model.eval().greedy(source, max_length=LENGTH + 1)
    return np.mean([list(f.ids) == list(t[:-1]) for f, t in zip(found, target)])


def main():
    rng = np.random.default_rng(3)
    source, target = draw_strings(2000, rng)
    config = models.TransformerConfig(2 + BEADS, START, END, d_model=32, num_heads=2, num_layers=1, norm="pre")
    model = models.Transformer(config, rng=np.random.default_rng(4))
    batches = nn.Batches([source, target], 50, seed=1)
    epochs = 12
    history = nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), lr=0.005),
        epochs=epochs,
        schedule=nn.cosine_schedule(0.005, epochs * len(batches), warmup=20),
        clip_norm=1.0,
        progress=False,
    )
    print(f"loss: first {history.losses[0]:.3f}, last {history.losses[-1]:.3f}")
    new_source, new_target = draw_strings(200, rng)
    print(f"new strings written backwards without a mistake: {exact(model, new_source, new_target):.2f}")


if __name__ == "__main__":
    main()
