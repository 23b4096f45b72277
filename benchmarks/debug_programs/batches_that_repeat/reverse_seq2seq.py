"""Write a row of letters backwards: encoder-decoder Transformer."""

import numpy as np

import nn
from models import Transformer, TransformerConfig, shifted_right

START, END, LETTERS = 0, 1, 8
rng = np.random.default_rng(111)
source = rng.integers(2, 2 + LETTERS, size=(600, 5))
target = np.concatenate([source[:, ::-1], np.full((600, 1), END)], axis=1)

config = TransformerConfig(
    source_vocab=2 + LETTERS, start=START, end=END, d_model=32, num_heads=2, num_layers=1, hidden=64, norm="pre"
)
model = Transformer(config, rng=rng)
optimizer = nn.Adam(model.parameters(), lr=0.004)
batches = nn.Batches([source[:500], target[:500]], 16, seed=2)

for step in range(200):
    src, tgt = next(iter(batches.epoch(0)))
    logits = model(src, shifted_right(tgt, START))
    loss = nn.cross_entropy(logits, tgt)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        guess = model(source[500:], shifted_right(target[500:], START)).numpy().argmax(axis=-1)
        print(f"step {step}: loss {loss.item():.4f}, letters right {(guess == target[500:]).mean():.3f}")
