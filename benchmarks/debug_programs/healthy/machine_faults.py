import argparse

import numpy as np
import nn


def shifts(rng, n):
    """Vibration, temperature and load of a machine, and whether it failed in the shift (rarely)."""
    fault = (rng.random(n) < 0.05).astype(np.int64)
    vibration = rng.gamma(3.0, 0.3 + 0.2 * fault)
    heat = rng.normal(55 + 9 * fault, 6)
    load = rng.uniform(0, 1, n)
    return np.column_stack([vibration, heat, load]), fault


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=12)
    args = parser.parse_args()
    rng = np.random.default_rng(6)
    x, y = shifts(rng, 2500)
    x_test, y_test = shifts(rng, 2500)
    mean, std = x.mean(axis=0), x.std(axis=0)
    x, x_test = (((a - mean) / std).astype(np.float32) for a in (x, x_test))

    counts = np.bincount(y, minlength=2)
    weight = (len(y) / (2 * counts)).astype(np.float32)
    print("counts", counts, "weights", weight.round(2))
    model = nn.Sequential(nn.Affine(3, args.hidden, rng=rng), np.tanh, nn.Affine(args.hidden, 2, rng=rng))
    history = nn.fit(
        model,
        nn.Batches([x, y], 100, seed=0),
        lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1], weight=weight),
        nn.AdamW(model.parameters(), lr=0.01),
        epochs=args.epochs,
        progress=False,
    )
    print("loss", round(history.losses[0], 3), "->", round(float(np.mean(history.losses[-25:])), 3))
    said = model(x_test).numpy().argmax(axis=1)
    recall = [np.mean(said[y_test == k] == k) for k in (0, 1)]
    print(f"faults found {recall[1]:.3f}, good shifts passed {recall[0]:.3f}, balanced accuracy {np.mean(recall):.3f}")


if __name__ == "__main__":
    main()
