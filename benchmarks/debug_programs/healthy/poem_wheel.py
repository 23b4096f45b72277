"""A GPT learns the verses of a counting rhyme, and stops when new verses get no better."""
import numpy as np

import minigrad as mg
import models
import nn

LINES = ["{} little ducks went out to play", "{} little frogs sat on a log", "{} merry mice ran up the hay"]
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
PAD = 0


def verses(count, rng):
    for _ in range(count):
        yield f"{rng.choice(LINES).format(rng.choice(NUMBERS))}, and {rng.choice(NUMBERS)} more"


def encode(texts, letters, length):
    ids = np.full((len(texts), length + 1), PAD)
    for row, text in zip(ids, texts):
        row[:len(text) + 1] = [letters.index(c) + 1 for c in text + "\n"]
    return ids[:, :-1], ids[:, 1:]


def loss(model, batch):
    seen, following = batch
    return nn.cross_entropy(model(seen), following, ignore_index=PAD)


def main():
    rng = np.random.default_rng(23)
    texts = list(verses(160, rng))
    letters = sorted(set("\n".join(texts)) | {"\n"})
    length = max(map(len, texts)) + 1
    train, held_out = encode(texts[:120], letters, length), encode(texts[120:], letters, length)
    config = models.GPTConfig(vocab_size=len(letters) + 1, window=length, d_model=32, num_heads=4, num_layers=1)
    gpt = models.GPT(config, rng=rng)
    history = nn.fit(
        gpt, nn.Batches(train, 12, seed=2), loss, nn.AdamW(gpt.parameters(), lr=0.008), epochs=14, clip_norm=1.0,
        validate=lambda model: {"held out": loss(model, held_out).item()}, best=("min", "held out"), patience=3,
        restore_best=True, progress=False,
    )
    print("epochs", len(history.metric("held out")), "loss", round(history.losses[-1], 3))
    print("held out", round(min(history.metric("held out")), 3), "from", round(history.metric("held out")[0], 3))
    with mg.no_grad():
        print("restored", round(loss(gpt, held_out).item(), 3))


if __name__ == "__main__":
    main()
