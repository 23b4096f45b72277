"""A training for test_faults.py, in which rank 1 does something wrong in the middle of the third epoch, once.

minigrad launch -n 2 tests/nn/parallel/faults.py FAULT FOLDER EPOCHS
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import nn
from tests.nn.training import X, Y

STEPS = 5  # in an epoch, of 8 examples, the last of 5


def misbehave(fault):
    if fault == "raise":
        raise ValueError("the disk is on fire")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "stop":  # it cannot even say so
        os.kill(os.getpid(), signal.SIGSTOP)
    if fault == "hang":
        time.sleep(1000)


def main():
    fault, folder, epochs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    ranks = nn.parallel.Ranks(timeout=1.0)
    rng = np.random.default_rng(5 if fault == "data" and ranks.rank else 0)
    width = 9 if fault == "model" and ranks.rank else 8
    model = nn.Sequential(nn.Affine(4, width, rng=rng), nn.Dropout(0.0, rng=rng), nn.Affine(width, 2, rng=rng))
    steps, done = iter(range(1000)), folder / "it happened"

    def loss(model, batch):
        if ranks.rank and next(steps) == 2 * STEPS + 2 and not done.exists():
            done.touch()
            misbehave(fault)
        return nn.cross_entropy(model(batch[0]), batch[1])

    def validate(model):
        x, y = X[ranks.rank :: ranks.size], Y[ranks.rank :: ranks.size]
        correct = int((model(x).numpy().argmax(-1) == y).sum())
        return {"accuracy": (correct if fault == "validate" else ranks.total(correct)) / len(X)}

    seed = int(rng.integers(100)) if fault == "data" else 3
    history = nn.fit(
        model, nn.Batches([X, Y], 8, seed=seed), loss, nn.AdamW(model.parameters(), 0.01), epochs=epochs, validate=validate,
        best=("max", "accuracy"), patience=50, checkpoint=folder, every=3, resume=True, parallel=ranks, progress=False,
    )  # fmt: skip
    print("done", len(history.losses), *history.metric("accuracy"))


if __name__ == "__main__":
    main()
