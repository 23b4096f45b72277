import numpy as np
import nn

rng = np.random.default_rng(19)
USERS, FILMS = 60, 45
generous = rng.normal(0, 0.7, USERS)
quality = rng.normal(0, 1.2, FILMS)
likes, genre = rng.normal(size=(USERS, 2)), rng.normal(size=(FILMS, 2))
u, f = np.nonzero(rng.random((USERS, FILMS)) < 0.5)
rating = 3.2 + generous[u] + quality[f] + 0.2 * (likes[u] * genre[f]).sum(axis=1) + 0.1 * rng.normal(size=len(u))
test = rng.random(len(u)) < 0.2


class Factorizer(nn.Module):
    """rating = mean + bias of the user + bias of the film + taste . genre"""

    def __init__(self, rank, rng):
        self.taste = nn.Parameter(0.1 * rng.normal(size=(USERS, rank)))
        self.genre = nn.Parameter(0.1 * rng.normal(size=(FILMS, rank)))
        self.user_bias = nn.Parameter(np.zeros(USERS))
        self.film_bias = nn.Parameter(np.zeros(FILMS))
        self.mean = nn.Parameter(np.full(1, 3.0))

    def forward(self, users, films):
        fit = (self.taste[users] * self.genre[films]).sum(axis=1)
        return self.mean + self.user_bias[users] + fit


model = Factorizer(2, rng)
opt = nn.Adam(model.parameters(), lr=0.02)
for epoch in range(250):
    opt.zero_grad()
    error = model(u[~test], f[~test]) - rating[~test]
    loss = (error * error).mean() + 1.0 * (model.taste**2).mean() + 1.0 * (model.genre**2).mean()
    loss.backward()
    opt.step()
    if epoch % 50 == 0:
        print(epoch, round(loss.item(), 4))
held_out = model(u[test], f[test]).numpy() - rating[test]
print("last", round(loss.item(), 4), "held-out rmse", np.sqrt((held_out**2).mean()).round(3))
