"""A lighthouse glows with two slow rhythms. Predict the next brightness, in pieces of ten steps; the state goes on."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(3)
t = np.arange(1203)
wave = 0.5 * np.sin(2 * np.pi * t / 25) + 0.5 * np.sin(2 * np.pi * t / 42)
wave = (wave + 0.03 * rng.normal(size=len(t))).astype(np.float32)
streams = wave[:1200].reshape(6, 200)           # six stretches, read side by side
after = wave[1:1201].reshape(6, 200)


class Watcher(nn.Module):
    def __init__(self):
        self.cell = nn.RNNCell(1, 20, rng=rng)
        self.next = nn.Affine(20, 1, rng=rng)

    def forward(self, piece, h):
        guesses = []
        for k in range(piece.shape[1]):
            h = self.cell(piece[:, k : k + 1], h)
            guesses.append(self.next(h))
        return np.concatenate(guesses, axis=1), h


watcher = Watcher()
optimizer = nn.Adam(watcher.parameters(), lr=0.005)
for sweep in range(15):
    h = np.zeros((6, 20), np.float32)
    total = 0.0
    for start in range(0, 200, 10):
        guess, h = watcher(streams[:, start : start + 10], h)
        loss = nn.mean_squared_error(guess, after[:, start : start + 10])
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(watcher.parameters(), 1.0)
        optimizer.step()
        h = h.detach()                          # the past is done: gradients stop here, the state does not
        total += loss.item()
    if sweep % 3 == 2:
        print(sweep + 1, round(total / 20, 4))
print("spread of the signal", wave.var().round(4))
