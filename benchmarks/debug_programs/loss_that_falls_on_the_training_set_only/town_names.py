# Invent names of towns with a GPT.
import numpy as np

import nn
from minigrad import no_grad
from models import GPT, GPTConfig

TOWNS = """ashford bedford bradford stafford oxford guildford hereford watford telford retford dartford romford
chelmsford stamford burford clifford milford wexford tiverton brighton taunton preston bolton kingston everton
luton northampton southampton wolverhampton darlington warrington accrington"""
towns = TOWNS.split()
rng = np.random.default_rng(106)
rng.shuffle(towns)
train, validation = towns[:24], towns[24:]
letters = "." + "".join(sorted(set("".join(towns))))
T = 15


def table(names):
    rows = np.zeros((len(names), T + 1), np.int64)
    for row, name in zip(rows, names):
        row[1 : len(name) + 1] = [letters.index(c) for c in name]
    labels = rows[:, 1:].copy()
    for row, name in zip(labels, names):
        row[len(name) + 1 :] = -1
    return rows[:, :-1], labels


def loss_on(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1], ignore_index=-1)


model = GPT(GPTConfig(vocab_size=len(letters), window=T, d_model=48, num_heads=4, num_layers=2, std=0.1), rng=rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
ids, labels = table(train)
x_val = table(validation)
for epoch in range(60):
    model.train()
    for rows in np.split(rng.permutation(24), 3):
        optimizer.zero_grad()
        loss = loss_on(model, (ids[rows], labels[rows]))
        loss.backward()
        optimizer.step()
    if epoch % 6 == 5:
        model.eval()
        with no_grad():
            on_train, on_val = loss_on(model, (ids, labels)).item(), loss_on(model, x_val).item()
        print(f"epoch {epoch + 1}: train {on_train:.3f}, validation {on_val:.3f}")
