"""Who likes which board game? One network describes players, another one games, and they learn in turn."""

import numpy as np

import minigrad as mg
import nn

PLAYERS, GAMES, TRAITS = 120, 80, 3
rng = np.random.default_rng(10)
taste, kind = rng.normal(size=(PLAYERS, TRAITS)), rng.normal(size=(GAMES, TRAITS))
answers = taste @ rng.normal(size=(TRAITS, 8)) * 0.6 + rng.normal(0, 0.3, (PLAYERS, 8))       # a questionnaire
boxes = kind @ rng.normal(size=(TRAITS, 10)) * 0.6 + rng.normal(0, 0.3, (GAMES, 10))          # what the box says
answers, boxes = answers.astype(np.float32), boxes.astype(np.float32)

player, game = rng.integers(PLAYERS, size=5000), rng.integers(GAMES, size=5000)
liked = np.clip((taste[player] * kind[game]).sum(axis=1) * 0.6 + rng.normal(0, 0.3, 5000), -3, 3).astype(np.float32)
known, asked = slice(0, 4000), slice(4000, 5000)


def tower(width, seed):
    rng = np.random.default_rng(seed)
    return nn.Sequential(nn.Affine(width, 24, rng=rng), np.tanh, nn.Affine(24, TRAITS, rng=rng))


def predicted(of_players, of_games, rows):
    return (of_players(answers[player[rows]]) * of_games(boxes[game[rows]])).sum(axis=1)


of_players, of_games = tower(8, 1), tower(10, 2)
turns = [nn.Adam(of_players.parameters(), lr=0.01), nn.Adam(of_games.parameters(), lr=0.01)]
order = np.random.default_rng(0)
for epoch in range(8):
    total = 0.0
    for number, rows in enumerate(order.permutation(4000).reshape(-1, 100)):
        of_players.zero_grad()
        of_games.zero_grad()
        loss = nn.mean_squared_error(predicted(of_players, of_games, rows), liked[rows])
        loss.backward()
        turns[number % 2].step()                                # the other network waits
        total += loss.item() / 40
    print(epoch + 1, f"{total:.3f}")

of_players.eval()
of_games.eval()
with mg.no_grad():
    error = predicted(of_players, of_games, asked).numpy() - liked[asked]
print(f"squared error {np.mean(error**2):.3f} on other answers; of the mean {np.var(liked[asked]):.3f}")
