"""A harbour master writes sixteen words about the tide. The last one that names a level is what counts at the end."""
import numpy as np

import minigrad as mg
import nn

WORDS, LENGTH, LEVELS = 24, 16, 9               # words 0 to 8 name a level, the others say nothing


def logbook(count, rng):
    words = rng.integers(LEVELS, WORDS, size=(count, LENGTH))
    named = rng.random((count, LENGTH)) < 0.15
    named[:, 0] = True
    words = np.where(named, rng.integers(LEVELS, size=words.shape), words)
    last = LENGTH - 1 - named[:, ::-1].argmax(axis=1)
    return words, words[np.arange(count), last]


def main():
    rng = np.random.default_rng(52)
    words, level = logbook(1280, rng)
    test_words, test_level = logbook(400, rng)

    embed = nn.Embedding(WORDS, 8, rng=rng)
    reader = nn.GRUCell(8, 14, rng=rng)
    answer = nn.Affine(14, LEVELS, rng=rng)
    optimizer = nn.Adam([*embed.parameters(), *answer.parameters()], lr=0.01)

    def read(batch):
        h = np.zeros((len(batch), 14), np.float32)
        x = embed(batch)
        for t in range(LENGTH):
            h = reader(x[:, t], h)
        return answer(h)

    for epoch in range(16):
        order = rng.permutation(len(words)).reshape(-1, 40)
        losses = []
        for pick in order:
            loss = nn.cross_entropy(read(words[pick]), level[pick])
            for module in (embed, reader, answer):
                module.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 3 == 0:
            print(f"{epoch:2d} {np.mean(losses):.4f}")
    with mg.no_grad():
        right = np.mean(read(test_words).numpy().argmax(axis=1) == test_level)
    print(f"right on new pages: {right:.3f}")


if __name__ == "__main__":
    main()
