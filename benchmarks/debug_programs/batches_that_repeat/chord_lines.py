"""A GPT for lines of chords: a line rises by a step of its own, and sometimes a chord is misheard."""

import numpy as np

import models
import nn

CHORDS, LENGTH = 12, 10
rng = np.random.default_rng(40)


def lines(n):
    start, pace = rng.integers(0, CHORDS, (n, 1)), rng.integers(1, 6, (n, 1))
    ids = (start + pace * np.arange(LENGTH + 1)) % CHORDS
    misheard = rng.random(ids.shape) < 0.03
    return np.where(misheard, rng.integers(0, CHORDS, ids.shape), ids)


def loss_of(model, ids):
    return nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])


training, held_back = lines(800), lines(200)
batches = nn.Batches([training], 32, seed=13)

config = models.GPTConfig(
    vocab_size=CHORDS, window=LENGTH, d_model=32, num_heads=2, num_layers=1, positions="rotary", std=0.1
)
model = models.GPT(config, rng=rng)
optimizer = nn.AdamW(model.parameters(), lr=5e-3)
schedule = nn.linear_schedule(5e-3, 300, warmup=10)

for step in range(300):
    (ids,) = next(iter(batches.epoch(0)))
    optimizer.lr = schedule(step)
    optimizer.zero_grad()
    loss = loss_of(model, ids)
    loss.backward()
    nn.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:3d}   loss {loss.item():.3f}")

model.eval()
print(f"last loss {loss.item():.3f}, on lines held back {loss_of(model, held_back).item():.3f}")
opening = held_back[:5, :4]
sung = np.stack(list(model.generate(opening, 5, rng=rng, top_k=1)), axis=1)
print(np.concatenate([opening, sung], axis=1))
