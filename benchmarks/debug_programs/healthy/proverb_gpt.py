"""A GPT learns five proverbs by heart."""
import numpy as np
import models
import nn

proverbs = ["a stitch in time saves nine", "all that glitters is not gold", "still waters run deep", "haste makes waste", "no smoke without fire"]
letters = ["."] + sorted(set("".join(proverbs)))
number = {letter: i for i, letter in enumerate(letters)}
WINDOW = 30

rows = np.zeros((len(proverbs), WINDOW + 1), int)
for row, proverb in zip(rows, proverbs):
    row[1 : len(proverb) + 1] = [number[letter] for letter in proverb]
inputs, labels = rows[:, :-1], rows[:, 1:].copy()
for row, proverb in zip(labels, proverbs):
    row[len(proverb) + 1 :] = -1

rng = np.random.default_rng(114)
model = models.GPT(models.GPTConfig(vocab_size=len(letters), window=WINDOW, d_model=32, num_heads=4, num_layers=1), rng=rng)
opt = nn.AdamW(model.parameters(), lr=0.01)
for epoch in range(150):
    opt.zero_grad()
    loss = nn.cross_entropy(model(inputs), labels, ignore_index=-1)
    loss.backward()
    opt.step()
    if epoch % 30 == 0 or epoch == 149:
        print(epoch, round(loss.item(), 4))

model.eval()
for proverb in proverbs:
    start = [0] + [number[letter] for letter in proverb[:2]]
    ids = np.concatenate(list(model.generate([start], 27, rng=rng, temperature=0)))
    print(proverb[:2] + "".join(letters[i] for i in ids).split(".")[0])
