"""A small GPT continues card patterns such as 3 5 7 9 1 3: each row has its own stride. Dropout only while it learns."""
import numpy as np
import minigrad as mg
import models
import nn

CARDS, LENGTH = 11, 12
rng = np.random.default_rng(10)


def deal(n):
    start, stride = rng.integers(0, CARDS, (n, 1)), rng.integers(1, 5, (n, 1))
    return (start + stride * np.arange(LENGTH + 1)) % CARDS


config = models.GPTConfig(vocab_size=CARDS, window=LENGTH, d_model=32, num_heads=2, num_layers=1, dropout=0.05)
gpt = models.GPT(config, rng=np.random.default_rng(0))
STEPS = 260
rate = nn.cosine_schedule(0.01, STEPS, warmup=20)
optimizer = nn.AdamW([{"params": p, "weight_decay": 0.1 * (p.ndim > 1)} for p in gpt.parameters()])

gpt.train()
for step in range(STEPS):
    rows = deal(24)
    optimizer.lr = rate(step)
    optimizer.zero_grad()
    loss = nn.cross_entropy(gpt(rows[:, :-1]), rows[:, 1:])
    loss.backward()
    nn.clip_grad_norm(gpt.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        print(step, round(loss.item(), 3))

gpt.eval()
rows = deal(100)
with mg.no_grad():
    guess = gpt(rows[:, :-1]).numpy().argmax(axis=-1)
print("right after two cards:", np.mean(guess[:, 1:] == rows[:, 2:]).round(3))
