import numpy as np
import nn
from models import GPT, GPTConfig

rng = np.random.default_rng(3)
LINES = ["the sea is {c} and {d} ", "my {n} sleeps by the {p} ", "a {c} {n} walks to the {p} ", "who has seen the {d} {n} "]
WORDS = {
    "c": ["blue", "grey", "green"], "d": ["deep", "cold", "old"],
    "n": ["cat", "dog", "king", "moon"], "p": ["door", "river", "fire"],
}


def line():
    chosen = {k: v[rng.integers(len(v))] for k, v in WORDS.items()}
    return LINES[rng.integers(len(LINES))].format(**chosen)


text = "".join(line() for _ in range(900))
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
T = 24
train, held = ids[:18000], ids[18000:]


def batch(source, size):
    starts = rng.integers(0, len(source) - T - 1, size)
    window = source[starts[:, None] + np.arange(T + 1)]
    return window[:, :-1], window[:, 1:]


model = GPT(GPTConfig(vocab_size=len(chars), window=T, d_model=32, num_heads=4, num_layers=2), rng=rng)
optimizer = nn.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
for step in range(130):
    x, y = batch(train, 16)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(x), y)
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step:3d}: {loss.item():.3f} nats")

model.eval()
x, y = batch(held, 64)
logits = model(x)
print(f"held out: {nn.cross_entropy(logits, y).item():.3f} nats, next letter right {np.mean(logits.numpy().argmax(-1) == y):.3f}")
start = ids[:1][None]
print("".join(chars[int(i)] for i in np.concatenate(list(model.generate(start, 30, rng=rng, temperature=0.5)))))
