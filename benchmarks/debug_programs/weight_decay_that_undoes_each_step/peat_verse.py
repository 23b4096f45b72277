"""A little GPT learns the counting rhymes of peat cutters."""
import numpy as np
import nn
from models import GPT, GPTConfig

RHYME = """one turf two turf dig it from the bog
three turf four turf stack it on a log
five turf six turf dry it in the sun
seven turf eight turf now the work is done
"""
letters = sorted(set(RHYME))
ids = np.array([letters.index(c) for c in RHYME * 3])
WINDOW, RATE = 24, 0.4


def windows(rng, count=16):
    at = rng.integers(0, len(ids) - WINDOW - 1, (count, 1)) + np.arange(WINDOW)
    return ids[at], ids[at + 1]


def descend(model):
    for p in model.parameters():
        p.data = p.data - RATE * p.grad.data
        p.data = p.data * (1 - 0.02)


def write(model, text, length=13):
    prompt = [[letters.index(c) for c in text]]
    more = model.generate(prompt, length, rng=np.random.default_rng(0), temperature=0)
    return text + "".join(letters[int(step[0])] for step in more)


def main():
    rng = np.random.default_rng(77)
    config = GPTConfig(vocab_size=len(letters), window=64, d_model=32, num_heads=2, num_layers=1, std=0.1)
    model = GPT(config, rng=rng)
    for step in range(1, 401):
        seen, following = windows(rng)
        model.zero_grad()
        loss = nn.cross_entropy(model(seen), following)
        loss.backward()
        descend(model)
        if step % 100 == 0:
            print(step, f"{loss.item():.3f}")
    model.eval()
    print(repr(write(model, "three turf ")))


if __name__ == "__main__":
    main()
