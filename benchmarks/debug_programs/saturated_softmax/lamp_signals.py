"""Ships send rows of lamp signals; the answer stands beside the signal that matches the call."""
import numpy as np
import minigrad as mg
import nn

SIGNALS, ROW, DIM, ANSWERS = 12, 7, 32, 5


def messages(count, rng):
    """A row of different signals, the answer beside each, and the signal that is called."""
    row = np.argsort(rng.random((count, SIGNALS)), axis=1)[:, :ROW]
    answers = rng.integers(0, ANSWERS, (count, ROW))
    place = rng.integers(0, ROW, count)
    return row, answers, row[np.arange(count), place], answers[np.arange(count), place]


class Watch(nn.Module):
    def __init__(self, rng):
        self.signal = nn.Embedding(SIGNALS, DIM, rng=rng)
        self.call = nn.Embedding(SIGNALS, DIM, rng=rng)
        self.query = nn.Affine(DIM, DIM, rng=rng)
        self.key = nn.Affine(DIM, DIM, rng=rng)
        self.answer = nn.Embedding(ANSWERS, DIM, rng=rng)
        self.out = nn.Affine(DIM, ANSWERS, rng=rng)

    def forward(self, row, answers, called):
        q = self.query(self.call(called))[:, None]
        k = self.key(self.signal(row))
        scores = np.sum(q * k, axis=-1) * DIM
        share = mg.softmax(scores, axis=-1)
        found = np.sum(share[:, :, None] * self.answer(answers), axis=1)
        return self.out(found)


def main():
    rng = np.random.default_rng(28)
    watch = Watch(rng)
    optimizer = nn.Adam(watch.parameters(), lr=0.003)
    for step in range(1, 1001):
        *seen, wanted = messages(64, rng)
        optimizer.zero_grad()
        loss = nn.cross_entropy(watch(*seen), wanted)
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            print(f"after {step} messages: loss {loss.item():.3f}")
    *seen, wanted = messages(1000, rng)
    print(f"right answers: {np.mean(watch(*seen).numpy().argmax(axis=1) == wanted):.3f}")


main()
