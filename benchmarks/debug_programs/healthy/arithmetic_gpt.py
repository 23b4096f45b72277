"""A GPT counts on: 2 4 6 8 ... modulo 10."""

import numpy as np

import nn
from models import GPT, GPTConfig

rng = np.random.default_rng(204)
first, step = rng.integers(0, 10, (400, 1)), rng.integers(1, 4, (400, 1))
rows = (first + step * np.arange(11)) % 10
model = GPT(GPTConfig(vocab_size=10, window=10, d_model=32, num_heads=2, num_layers=2, std=0.1), rng=rng)
optimizer = nn.AdamW(model.parameters(), lr=0.003)
batches = nn.Batches([rows], 40, seed=2)
for epoch in range(10):
    for (ids,) in batches.epoch(epoch):
        loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
model.eval()
print([3, 6, 9, *(int(t[0]) for t in model.generate([[3, 6, 9]], 6, rng=rng, temperature=0.1))])
