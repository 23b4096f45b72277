"""Names the school of a draughts player from the first moves: a small Transformer on games of 4 to 14 moves."""

import numpy as np

import models
import nn

MOVES, SCHOOLS, LONGEST = 30, 3, 14


def games(count, rng):
    """Each school answers some moves in its own way; the rest is chance."""
    ids = np.zeros((count, LONGEST), np.int64)
    school = rng.integers(SCHOOLS, size=count)
    lengths = rng.integers(4, LONGEST + 1, size=count)
    for row, kind, length in zip(ids, school, lengths):
        row[0] = rng.integers(MOVES)
        for place in range(1, length):
            usual = (row[place - 1] * (kind + 2) + 3 * kind + 1) % MOVES
            row[place] = usual if rng.random() < 0.5 else rng.integers(MOVES)
        for place in range(0, length, 3):
            if rng.random() < 0.7:
                row[place] = 5 * kind + rng.integers(7)
    return ids, np.arange(LONGEST) < lengths[:, None], school


def loss(model, batch):
    ids, is_move, school = batch
    return nn.cross_entropy(model(ids, is_move), school, label_smoothing=0.05)


def main():
    ids, is_move, school = games(700, np.random.default_rng(24))
    config = models.ClassifierConfig(MOVES, SCHOOLS, d_model=16, num_heads=2, num_layers=1, hidden=64, dropout=0.1)
    model = models.TransformerClassifier(config, rng=np.random.default_rng(0))
    batches = nn.Batches([ids[:500], is_move[:500], school[:500]], 50, seed=5)
    groups = [{"params": p, "weight_decay": 0.05 * (p.ndim > 1)} for p in model.parameters()]
    epochs, peak = 9, 0.01
    steps = epochs * len(batches)

    def validate(model):
        guess = model(ids[500:], is_move[500:]).numpy().argmax(axis=1)
        return {"right": np.mean(guess == school[500:])}

    history = nn.fit(
        model, batches, loss, nn.AdamW(groups, lr=peak), epochs=epochs, clip_norm=1.0,
        schedule=nn.cosine_schedule(peak, steps, warmup=steps // 5), validate=validate, progress=False,
    )
    print(f"loss {history.losses[0]:.2f} ... {np.mean(history.losses[-10:]):.2f}")
    print(f"right school for {history.metric('right')[-1]:.2f} of other games")


if __name__ == "__main__":
    main()
