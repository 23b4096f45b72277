"""One long signal in pieces: the state goes on from piece to piece, the gradient stops at the border."""

import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(9)
STREAMS, PIECE, WIDTH = 16, 12, 24
time = np.arange(1200)
starts = rng.uniform(0, 20, STREAMS)
signal = np.sin((time[None] + starts[:, None]) / 5) + 0.5 * np.sin((time[None] + starts[:, None]) / 2)
signal = (signal + 0.05 * rng.normal(size=signal.shape)).astype(np.float32)


class Follower(nn.Module):
    def __init__(self, rng):
        self.cell = nn.GRUCell(1, WIDTH, rng=rng)
        self.output = nn.Affine(WIDTH, 1, rng=rng)

    def forward(self, piece, h):
        guesses = []
        for t in range(piece.shape[1]):
            h = self.cell(piece[:, t : t + 1], h)
            guesses.append(self.output(h)[:, 0])
        return np.stack(guesses, axis=1), h


model = Follower(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
h = Tensor(np.zeros((STREAMS, WIDTH), np.float32))
for step, start in enumerate(range(0, 1200 - PIECE - 1, PIECE)):
    h = h.detach()
    optimizer.zero_grad()
    guesses, h = model(signal[:, start : start + PIECE], h)
    loss = nn.mean_squared_error(guesses, signal[:, start + 1 : start + PIECE + 1])
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"piece {step}: {loss.item():.4f}")
print(f"last piece: {loss.item():.4f}")
