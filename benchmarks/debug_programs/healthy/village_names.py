"""A GPT that invents names of villages, letter by letter. Most names are short, and a few are very long."""

import numpy as np

import minigrad as mg
import models
import nn

LETTERS = ".abdeghiklmnorstuvw"                                 # the dot begins and ends a name
FIRST = ["ald", "bran", "dor", "eg", "hol", "kes", "lan", "mid", "nor", "os", "stan", "wes", "thor", "gar"]
LAST = ["borg", "dal", "grove", "ham", "holm", "land", "sted", "ton", "thorne", "vik"]
WINDOW = 40


def name(rng):
    count = 4 if rng.random() < 0.05 else rng.integers(1, 3)
    return "".join([*rng.choice(FIRST, size=count), str(rng.choice(LAST))])[: WINDOW - 1]


def in_rows(names):
    """(names, WINDOW + 1) ids; -1 where a name is over."""
    ids = np.full((len(names), WINDOW + 1), -1)
    for row, text in zip(ids, names):
        row[: len(text) + 2] = [LETTERS.index(letter) for letter in f".{text}."]
    return ids


def loss(model, batch):
    (ids,) = batch
    seen, following = np.maximum(ids[:, :-1], 0), ids[:, 1:]
    return nn.cross_entropy(model(seen), following, ignore_index=-1)


rng = np.random.default_rng(33)
names = list(dict.fromkeys(name(rng) for _ in range(700)))[:400]                # each name once
ids = in_rows(names)
config = models.GPTConfig(vocab_size=len(LETTERS), window=WINDOW, d_model=24, num_heads=2, num_layers=1, std=0.1)
model = models.GPT(config, rng=np.random.default_rng(0))
batches = nn.Batches([ids[:320]], 32, seed=1)


def validate(model):
    return {"new": loss(model, [ids[320:]]).item()}


history = nn.fit(
    model, batches, loss, nn.AdamW(model.parameters(), lr=0.01), epochs=7, clip_norm=1.0,
    schedule=nn.cosine_schedule(0.01, 7 * len(batches), warmup=5), validate=validate, progress=False,
)
print(f"loss {history.losses[0]:.2f} ... {history.losses[-1]:.2f}, on new names {history.metric('new')[-1]:.2f}")
with mg.no_grad():
    written = np.stack(list(model.generate([[0]] * 4, 12, rng=np.random.default_rng(4), temperature=0.7)), axis=1)
for row in written:
    print("".join(LETTERS[i] for i in row).split(".")[0])
