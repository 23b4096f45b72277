import numpy as np

import nn
from minigrad import Tensor

# Ratings of 40 movies by 30 people; predict a rating from two embeddings.
rng = np.random.default_rng(18)
taste, style = rng.normal(size=(30, 3)), rng.normal(size=(40, 3))
who, what = np.divmod(rng.permutation(1200)[:900], 40)
stars = (taste[who] * style[what]).sum(axis=1) + 0.1 * rng.normal(size=900)

people = Tensor(rng.normal(0, 0.3, (30, 6)), requires_grad=True)
movies = Tensor(rng.normal(0, 0.3, (40, 6)), requires_grad=True)
W1 = Tensor(rng.normal(0, 0.3, (12, 24)), requires_grad=True)
b1 = Tensor(np.zeros(24), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.3, (24, 1)), requires_grad=True)


def lookup(table, ids):
    return np.array([table.numpy()[i] for i in ids])


optimizer = nn.Adam([people, movies, W1, b1, W2], lr=0.01)
for epoch in range(40):
    order = rng.permutation(900)
    total = 0
    for rows in np.array_split(order, 18):
        pair = np.concatenate([lookup(people, who[rows]), lookup(movies, what[rows])], axis=1)
        guess = (np.tanh(pair @ W1 + b1) @ W2)[:, 0]
        loss = ((guess - stars[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 18
    if epoch % 5 == 0:
        print(f"epoch {epoch}: mean squared error {total:.3f} (variance of the ratings {stars.var():.3f})")
