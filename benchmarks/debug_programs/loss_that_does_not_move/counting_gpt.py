import numpy as np

import nn
from models import GPT, GPTConfig

rng = np.random.default_rng(101)
T = 12
first = rng.integers(0, 10, size=(300, 1))
step = rng.integers(1, 4, size=(300, 1))
rows = (first + step * np.arange(T + 1)) % 10

model = GPT(GPTConfig(vocab_size=10, window=T, d_model=24, num_heads=2, num_layers=1, std=0.1), rng=rng)
batches = nn.Batches([rows[:, :-1], rows[:, 1:]], 30, seed=0)
epochs = 15
history = nn.fit(
    model,
    batches,
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.AdamW(model.parameters()),
    epochs=epochs,
    schedule=nn.inverse_sqrt_schedule(24, 20000, scale=0.02),
    clip_norm=1.0,
    progress=False,
)
for epoch in range(epochs):
    print(f"epoch {epoch:2d}: {np.mean(history.losses[10 * epoch : 10 * epoch + 10]):.4f}")
