# Word vectors for a made-up language with four topics.
import numpy as np

import nn
from models import SkipGram, SkipGramConfig

rng = np.random.default_rng(215)
topic = np.repeat(np.arange(4), 6)
texts = [rng.choice(np.flatnonzero(topic == t), 60) for t in rng.integers(0, 4, 40)]
model = SkipGram(SkipGramConfig(vocab_size=24, d_model=8, window=2), rng=rng)
optimizer = nn.Adam(model.parameters(), lr=0.02)
for epoch in range(12):
    losses = []
    for i in rng.permutation(40):
        optimizer.zero_grad()
        loss = model.loss(texts[i])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {np.mean(losses):.4f}")
