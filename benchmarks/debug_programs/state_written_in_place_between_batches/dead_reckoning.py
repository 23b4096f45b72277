# A robot counts its steps forward and back along a rail: where is it at the end? A small Elman network on arrays.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(23)
T, B, H = 8, 40, 16


def walks(n):
    moves = rng.choice([-1.0, 0.0, 1.0], size=(n, T))
    return moves, moves.sum(axis=1) / 4


p = {
    "Wx": 0.3 * rng.normal(size=(1, H)), "Wh": np.eye(H) + 0.05 * rng.normal(size=(H, H)), "bh": np.zeros(H),
    "Wy": 0.3 * rng.normal(size=H), "by": 0.0,
}


def run(p, moves, start):
    h = start
    for t in range(T):
        h = np.tanh(moves[:, t:t + 1] @ p["Wx"] + h @ p["Wh"] + p["bh"])
    return h


def loss(p, moves, place, start):
    h = run(p, moves, start)
    return ((h @ p["Wy"] + p["by"] - place) ** 2).mean(), h


step = mg.value_and_grad(loss, has_aux=True)
state = np.zeros((B, H))
for i in range(800):
    moves, place = walks(B)
    (value, h), g = step(p, moves, place, state)
    p = {k: p[k] - 0.05 * np.clip(g[k], -1, 1) for k in p}
    state[...] = h
    if i % 100 == 99:
        print(i + 1, "loss", round(float(value), 4))

moves, place = walks(300)
answer = run(p, moves, np.zeros((300, H))) @ p["Wy"] + p["by"]
print("mean squared error on new walks", np.mean((answer - place) ** 2).round(4))
