import numpy as np
import nn
from models import GPT, GPTConfig

rng = np.random.default_rng(3)
KISETSU = [["haru", "sakura", "kaze"], ["natsu", "hotaru", "kawa"], ["aki", "momiji", "tsuki"], ["fuyu", "yuki", "yama"]]
vocab = sorted({w for s in KISETSU for w in s} | {"no", "ni", "ya", "."})
number = {w: i for i, w in enumerate(vocab)}


def verse():
    a, b, c = KISETSU[rng.integers(4)]
    return [a, "no", b, "ya", c, "ni", b, "."] if rng.random() < 0.5 else [a, "ya", c, "no", b, "ni", c, "."]


text = np.array([number[w] for _ in range(600) for w in verse()])
window = 24
starts = np.arange(0, len(text) - window, 12)
rows = np.stack([text[s : s + window] for s in starts])
train, held = rows[:300], rows[300:]

model = GPT(GPTConfig(vocab_size=len(vocab), window=window, d_model=32, num_heads=4, num_layers=2), rng=rng)


def loss(model, batch):
    (ids,) = batch
    return nn.cross_entropy(model(ids), ids)


batches = nn.Batches([train], 20, seed=0)
optimizer = nn.AdamW(model.parameters(), lr=3e-3)
history = nn.fit(model, batches, loss, optimizer, epochs=10, clip_norm=1.0, progress=False)
print("training loss", round(history.losses[0], 3), "->", round(history.losses[-1], 4))

logits = model(held[:, :-1]).numpy()
print("held out: next word right", (logits.argmax(axis=-1) == held[:, 1:]).mean().round(3))
start = np.array([[number["haru"], number["no"]]])
written = np.concatenate(list(model.generate(start, 10, rng=rng, temperature=0)))
print("haru no", *[vocab[i] for i in written])
