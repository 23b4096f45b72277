import numpy as np

import nn
from models import RNNEncoderDecoder, RNNEncoderDecoderConfig, shifted_right

# Translate the digits of one clock into the digits of another
rng = np.random.default_rng(151)
START, END = 0, 1
source = rng.integers(2, 8, size=(240, 4))
dictionary = np.concatenate([[0, 1], 2 + rng.permutation(6)])
target = np.concatenate([dictionary[source], np.full((240, 1), END)], axis=1)

config = RNNEncoderDecoderConfig(source_vocab=8, target_vocab=8, start=START, end=END, embedding=12, hidden=24)
model = RNNEncoderDecoder(config, rng=rng)


def loss(model, batch):
    src, tgt = batch
    return nn.cross_entropy(model(src, shifted_right(tgt, START)), tgt)


history = nn.fit(
    model,
    nn.Batches([source, target], 24, seed=0),
    loss,
    nn.SGD(model.parameters(), lr=0.4, momentum=0.9),
    epochs=12,
    clip_norm=1e-4,
    progress=False,
)
for epoch in range(12):
    print(f"epoch {epoch}: {np.mean(history.losses[10 * epoch : 10 * epoch + 10]):.4f}")
