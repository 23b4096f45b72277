"""A tiny GPT learns a counting rhyme whose lines are put together by a small grammar, letter by letter."""

import numpy as np

import models
import nn

WHO = ["the cat", "the fox", "old tom", "my aunt"]
DOES = ["sat on", "ran by", "hid in"]
WHERE = ["the wall", "the well", "a box"]
LENGTH = 32

rng = np.random.default_rng(2)
lines = [" ".join(rng.choice(part) for part in (WHO, DOES, WHERE)) for _ in range(1500)]
text = "\n".join(lines) + "\n"
letters = sorted(set(text))
number = {c: i for i, c in enumerate(letters)}
ids = np.array([number[c] for c in text])

config = models.GPTConfig(len(letters), window=LENGTH, d_model=32, num_heads=2, num_layers=1)
model = models.GPT(config, rng=np.random.default_rng(3))
optimizer = nn.AdamW(model.parameters(), lr=0.005, weight_decay=0.01)
schedule = nn.cosine_schedule(0.005, steps=350, warmup=30)
for step in range(350):
    starts = rng.integers(len(ids) - LENGTH, size=(24, 1)) + np.arange(LENGTH)
    seen, following = ids[starts], ids[starts + 1]
    optimizer.lr = schedule(step)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(seen), following)
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
    if step % 70 == 69:
        print(f"step {step + 1}: loss {loss.item():.3f}")

model.eval()
start = [number[c] for c in "\n"]
written = np.concatenate(list(model.generate([start], 400, rng=rng, temperature=0.7)))
sung = "".join(letters[i] for i in written).split("\n")[:-1]
print(
    f"lines that the rhyme could have: {np.mean([line in set(lines) for line in sung]):.2f}; for example: {sung[0]!r}"
)
