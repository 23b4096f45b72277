"""Ratings of board games: a model with one factor and one bias for each player and each game."""

import numpy as np

import nn

rng = np.random.default_rng(21)
PLAYERS, GAMES = 60, 40
taste, style = rng.normal(size=(PLAYERS, 1)), rng.normal(size=(GAMES, 1))
mood, quality = 0.8 * rng.normal(size=PLAYERS), 1.5 * rng.normal(size=GAMES)
players, games = rng.integers(0, PLAYERS, 1500), rng.integers(0, GAMES, 1500)
ratings = (0.4 * (taste[players] * style[games]).sum(axis=1) + mood[players] + quality[games]).astype(np.float32)


class Factors(nn.Module):
    def __init__(self, rng):
        self.player = nn.Embedding(PLAYERS, 1, std=0.1, rng=rng)
        self.game = nn.Embedding(GAMES, 1, std=0.1, rng=rng)
        self.player_bias = nn.Embedding(PLAYERS, 1, std=0.01, rng=rng)
        self.game_bias = nn.Embedding(GAMES, 1, std=0.01, rng=rng)

    def forward(self, players, games):
        match = (self.player(players) * self.game(games)).sum(axis=1)
        bias = self.player_bias(players) + self.player_bias(games)
        return match + bias[:, 0]


model = Factors(rng)
train, test = slice(0, 1200), slice(1200, None)
batches = nn.Batches([players[train], games[train], ratings[train]], 60, seed=1)


def loss(model, batch):
    who, what, rating = batch
    return nn.mean_squared_error(model(who, what), rating)


history = nn.fit(
    model,
    batches,
    loss,
    nn.Adam(model.parameters(), lr=0.02, weight_decay=0.001),
    epochs=25,
    progress=False,
    validate=lambda model: {"mse": nn.mean_squared_error(model(players[test], games[test]), ratings[test]).item()},
)
print(history)
