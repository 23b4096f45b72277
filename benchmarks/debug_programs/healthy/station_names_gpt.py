"""A small GPT learns invented station names and writes new ones."""
import numpy as np
import models
import nn

rng = np.random.default_rng(201)
starts, middles, ends = ["Ash", "Nor", "West", "Kil", "Bram"], ["ing", "er", "o", "en"], ["ton", "ham", "ford", "ley"]
names = [a + b + c for a in starts for b in middles for c in ends]
rng.shuffle(names)
alphabet = "." + "".join(sorted(set("".join(names))))
LONGEST = max(map(len, names)) + 1


def encode(name):
    ids = [0] + [alphabet.index(c) for c in name] + [0]
    return ids + [-1] * (LONGEST + 1 - len(ids))


table = np.array([encode(name) for name in names])


def next_character(model, batch):
    (ids,) = batch
    return nn.cross_entropy(model(np.maximum(ids[:, :-1], 0)), ids[:, 1:], ignore_index=-1)


config = models.GPTConfig(vocab_size=len(alphabet), window=LONGEST, d_model=32, num_heads=4, num_layers=2)
model = models.GPT(config, rng=np.random.default_rng(0))
train, unseen = table[:68], table[68:]
batches = nn.Batches([train], 17, seed=1)
history = nn.fit(
    model, batches, next_character, nn.AdamW(model.parameters(), lr=0.005), epochs=20, clip_norm=1.0,
    schedule=nn.cosine_schedule(0.005, 80, warmup=10),
    validate=lambda m: {"unseen": next_character(m, (unseen,)).item()}, progress=False,
)
print("loss", round(history.losses[0], 3), "->", round(history.losses[-1], 3))
print("unseen", np.round(history.metric("unseen")[::5], 3), round(history.metric("unseen")[-1], 3))
