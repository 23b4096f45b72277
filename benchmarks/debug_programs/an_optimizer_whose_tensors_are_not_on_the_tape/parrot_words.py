"""Which word did the parrot say? Eight words, each call as the energy in 20 bands at 3 moments."""

import copy

import numpy as np

import minigrad as mg
import nn

WORDS = ["hello", "walnut", "door", "kettle", "goodnight", "rascal", "oops", "tea"]


def calls(count, voice, rng):
    word = rng.integers(len(WORDS), size=count)
    loud = rng.normal(0, 0.4, size=(count, 1))
    return (voice[word] + loud + rng.normal(0, 0.9, size=(count, 60))).astype(np.float32), word


class Listener(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(60, 32, rng=rng)
        self.output = nn.Affine(32, len(WORDS), rng=rng)

    def forward(self, x):
        return self.output(mg.relu(self.hidden(x)))


def warmed(model, x):
    """Scale the first layer so that the hidden units have about the size 1 on these calls."""
    model = copy.deepcopy(model)
    with mg.no_grad():
        size = mg.relu(model.hidden(x)).numpy().std()
    model.hidden.weight.data = (model.hidden.weight.data / size).astype(np.float32)
    return model


def accuracy(model, x, word):
    model.eval()
    with mg.no_grad():
        right = np.mean(model(x).numpy().argmax(axis=1) == word)
    model.train()
    return right


def main():
    rng = np.random.default_rng(17)
    voice = rng.normal(0, 0.5, size=(len(WORDS), 60))
    x, word = calls(1100, voice, rng)
    model = Listener(np.random.default_rng(1))
    optimizer = nn.AdamW(model.parameters(), lr=0.004)
    model = warmed(model, x[:200])
    batches = nn.Batches([x[:800], word[:800]], 40, seed=5)
    for epoch in range(5):
        total = 0.0
        for heard, said in batches.epoch(epoch):
            model.zero_grad()
            loss = nn.cross_entropy(model(heard), said)
            loss.backward()
            nn.clip_grad_norm(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item() / len(batches)
        if epoch % 2 == 0:
            print(f"epoch {epoch}: loss {total:.3f}, right {accuracy(model, x[800:], word[800:]):.2f}")
    print(f"at the end right {accuracy(model, x[800:], word[800:]):.2f}")


if __name__ == "__main__":
    main()
