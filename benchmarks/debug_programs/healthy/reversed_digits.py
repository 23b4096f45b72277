"""An encoder-decoder writes four digits backwards; the sources are padded to six."""

import models
import numpy as np
import nn

rng = np.random.default_rng(115)
PAD, START, END = 10, 11, 12
config = models.TransformerConfig(
    source_vocab=13, start=START, end=END, d_model=32, num_heads=2, num_layers=1, hidden=64, norm="pre"
)
model = models.Transformer(config, rng=rng)


def examples(count):
    digits = rng.integers(0, 10, (count, 4))
    source = np.full((count, 6), PAD)
    source[:, :4] = digits
    target = np.full((count, 5), END)
    target[:, :4] = digits[:, ::-1]
    return source, target


optimizer = nn.Adam(model.parameters(), lr=0.005)
for step in range(350):
    source, target = examples(32)
    optimizer.zero_grad()
    logits = model(source, target, source != PAD)
    loss = nn.cross_entropy(logits, target)
    loss.backward()
    nn.clip_grad_norm(optimizer.parameters, 1.0)
    optimizer.step()
    if step % 70 == 69:
        print(step + 1, round(loss.item(), 4))

model.eval()
source, target = examples(200)
guess = model(source, target, source != PAD).numpy().argmax(axis=-1)
print("tokens right", (guess == target).mean())
