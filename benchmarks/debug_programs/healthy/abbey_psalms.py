"""A GPT of one layer learns four lines by heart: the same text in every epoch, all of it in every step."""
import numpy as np
import nn
from models import GPT, GPTConfig

LINES = ["the bell wakes the brothers at three", "the lamps burn low in the nave", "bread and ale stand on the table", "the abbot counts the candles twice"]
letters = "." + "".join(sorted(set("".join(LINES))))
length = max(len(line) for line in LINES) + 1

ids = np.zeros((len(LINES), length), int)
labels = np.full((len(LINES), length), -1)
for row, line in enumerate(LINES):
    numbers = [letters.index(c) for c in line]
    ids[row, 1 : len(numbers) + 1] = numbers[: length - 1]
    labels[row, : len(numbers) + 1] = [*numbers, 0]

rng = np.random.default_rng(10)
model = GPT(GPTConfig(len(letters), length, d_model=32, num_heads=4, num_layers=1), rng=rng)


def loss(model, batch):
    seen, following = batch
    return nn.cross_entropy(model(seen), following, ignore_index=-1)


history = nn.fit(
    model, nn.Batches([ids, labels], len(LINES), seed=0), loss, nn.AdamW(model.parameters(), lr=0.01),
    epochs=200, schedule=nn.cosine_schedule(0.01, 200, warmup=20),
    clip_norm=1.0, progress=False,
)  # fmt: skip
print("losses:", *[f"{value:.3f}" for value in history.losses[::40]], f"{history.losses[-1]:.4f}")
said = model(ids).numpy().argmax(axis=-1)
print(f"letters that are right: {np.mean((said == labels)[labels >= 0]):.3f}")
