"""Tell the estuary from a morning's list of birds, with a small Transformer."""
import numpy as np
import nn
from models import ClassifierConfig, TransformerClassifier

BIRDS = "heron egret curlew dunlin teal wigeon plover godwit avocet shelduck".split()
ESTUARIES = ["north", "middle", "south"]


def mornings(count, rng):
    """A list of eight birds each; every estuary has its own common birds."""
    common = np.array([[5, 4, 1, 1, 3, 1, 1, 2, 1, 1], [1, 1, 5, 4, 1, 1, 3, 1, 2, 1], [1, 2, 1, 1, 1, 4, 1, 3, 1, 5]], float)
    common /= common.sum(axis=1, keepdims=True)
    place = rng.integers(0, 3, count)
    lists = np.array([rng.choice(len(BIRDS), 8, p=common[p]) for p in place])
    return lists, place


def accuracy(model, lists, place):
    model.eval()
    guess = model(lists).numpy().argmax(axis=-1)
    model.train()
    return np.mean(guess == place)


def main():
    rng = np.random.default_rng(5)
    lists, place = mornings(480, rng)
    others, where = mornings(240, rng)
    config = ClassifierConfig(len(BIRDS), len(ESTUARIES), d_model=24, num_heads=2, num_layers=1)
    model = TransformerClassifier(config, rng=rng)
    optimizer = nn.AdamW(model.parameters(), lr=2e-3)
    batches = nn.Batches([lists, place], 32, seed=1)
    for epoch in range(12):
        total = 0.0
        for seen, answer in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(seen), answer)
            optimizer.step()
            loss.backward()
            total += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2}: loss {total / len(batches):.3f}, accuracy {accuracy(model, others, where):.3f}")


if __name__ == "__main__":
    main()
