"""An encoder-decoder Transformer repeats the letters and adds one to each."""

import numpy as np

import nn
from models import Transformer, TransformerConfig, shifted_right

START, END = 0, 1
rng = np.random.default_rng(221)
source = rng.integers(2, 10, size=(500, 4))
target = np.concatenate([(source - 1) % 8 + 2, np.full((500, 1), END)], axis=1)
config = TransformerConfig(
    source_vocab=10, start=START, end=END, d_model=32, num_heads=2, num_layers=1, hidden=64, norm="pre"
)
model = Transformer(config, rng=rng)
optimizer = nn.Adam(model.parameters(), lr=0.004)
for epoch in range(10):
    for rows in np.split(rng.permutation(500), 20):
        loss = nn.cross_entropy(model(source[rows], shifted_right(target[rows], START)), target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
