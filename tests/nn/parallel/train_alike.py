"""What test_ranks.py runs on 1, 2 and 4 processes: each training writes its losses and weights, to be compared.

mpiexec -n 2 python -m mpi4py tests/nn/parallel/train_alike.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import nn
from models import GPT, ClassifierConfig, GPTConfig, TransformerClassifier

STEPS = 50
VOCABULARY, LENGTH, CLASSES = 11, 6, 3


def data(examples):
    rng = np.random.default_rng(0)
    ids = rng.integers(1, VOCABULARY, (examples, LENGTH))
    return ids, ids.sum(axis=1) % CLASSES


def classifier(dropout=0.0):
    config = ClassifierConfig(vocab_size=VOCABULARY, num_classes=CLASSES, d_model=8, dropout=dropout)
    model = TransformerClassifier(config, rng=np.random.default_rng(1))
    return model, lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1])


def gpt():
    config = GPTConfig(vocab_size=VOCABULARY, window=LENGTH, d_model=8, num_layers=2, num_heads=2)
    model = GPT(config, rng=np.random.default_rng(1))
    return model, lambda model, batch: nn.cross_entropy(model(batch[0][:, :-1]), batch[0][:, 1:])


def with_fit(ranks, made, **options):
    """Through fit: the last batch of an epoch is smaller, 6 of 8.

    In float64, for Adam's sake: the gradient of a key's bias is nothing but rounding, and Adam makes steps of it.
    """
    model, loss = made
    model.astype(np.float64)
    batches = nn.Batches(data(30), 8, seed=3)
    accumulate = options.get("accumulate", 1)
    epochs = -(-STEPS * accumulate // len(batches))
    optimizer = nn.AdamW(model.parameters(), 1e-3)
    history = nn.fit(model, batches, loss, optimizer, epochs=epochs, parallel=ranks, progress=False, **options)
    return history.losses, model


def own_loop(ranks, made, overlap):
    """A loop of one's own in float32, with a last batch of one example, fewer than ranks; clipped; the embedding frozen."""
    model, loss = made
    for path, p in model.named_parameters():
        p.requires_grad = "embedding" not in path
    if ranks.rank:
        for p in model.parameters():
            p.data[...] = 7  # rank 0's are broadcast
    batches = nn.Batches(data(17), 8, seed=3)
    optimizer = nn.SGD(model.parameters(), 0.03, momentum=0.9)
    losses = []
    ranks.broadcast(model)
    for epoch in range(STEPS // len(batches)):
        for batch, count in ranks.share(batches, epoch):
            optimizer.zero_grad()
            value = loss(model, batch)
            if overlap:
                with ranks.overlapping(value, optimizer, count):
                    value.backward()
            else:
                value.backward()
            ranks.average(optimizer, count)
            nn.clip_grad_norm(optimizer.parameters, 0.1)
            optimizer.step()
            losses.append(ranks.mean(value.item(), count))
    return losses, model


TRAININGS = {
    "classifier": lambda ranks: with_fit(ranks, classifier()),
    "gpt, accumulated, clipped": lambda ranks: with_fit(ranks, gpt(), accumulate=2, clip_norm=0.5),
    "gpt, own loop": lambda ranks: own_loop(ranks, gpt(), overlap=False),
    "classifier, own loop, overlapping": lambda ranks: own_loop(ranks, classifier(), overlap=True),
}


def dropout_key(ranks):
    """Where the masks of this rank come from."""
    model, _ = classifier(dropout=0.5)
    ranks.broadcast(model)
    return next(module.key for module in model.modules() if isinstance(module, nn.Dropout))


def main():
    ranks = nn.parallel.Ranks(bucket_bytes=600, timeout=20)  # several buckets, though the models are small
    print("rank", ranks.rank)
    key, rng = dropout_key(ranks), np.random.default_rng(ranks.rank)
    ranks.broadcast(rng)
    drawn = rng.random()
    for number, training in enumerate(TRAININGS.values()):
        losses, model = training(ranks)
        path = Path(sys.argv[1]) / f"{number}.{ranks.rank}of{ranks.size}.npz"
        np.savez(path, losses=losses, key=key, drawn=drawn, **model.state_dict())


if __name__ == "__main__":
    main()
