"""Predict a long wave point by point; the network reads it in consecutive pieces of 20 and remembers between them."""

import numpy as np

import minigrad as mg
import nn

time = np.arange(2420)
wave = np.sin(0.21 * time) + 0.5 * np.sin(0.083 * time + 1.0)
wave = (wave + np.random.default_rng(91).normal(0, 0.02, wave.shape)).astype(np.float32)
PIECE, STATE = 20, 20


class Listener(nn.Module):
    def __init__(self, rng):
        self.cell = nn.GRUCell(1, STATE, rng=rng)
        self.out = nn.Affine(STATE, 1, rng=rng)

    def forward(self, piece, h):
        guesses = []
        for value in piece:
            h = self.cell(value.reshape(1, 1), h)
            guesses.append(self.out(h)[0])
        return np.concatenate(guesses), h


listener = Listener(np.random.default_rng(0))
optimizer = nn.Adam(listener.parameters(), lr=0.01)
for lap in range(2):
    h = np.zeros((1, STATE), np.float32)
    errors = []
    for start in range(0, 2000, PIECE):
        guess, h = listener(wave[start : start + PIECE], h)
        loss = ((guess - wave[start + 1 : start + PIECE + 1]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.clip_grad_norm(optimizer.parameters, 1.0)
        optimizer.step()
        h = h.detach()
        errors.append(loss.item())
    print(f"lap {lap}: {np.mean(errors):.4f}, last ten {np.mean(errors[-10:]):.4f}")

with mg.no_grad():
    guess, _ = listener(wave[2000:2400], h)
print(f"ahead: {np.mean((guess.numpy() - wave[2001:2401]) ** 2):.4f}")
print(f"if nothing changed: {np.mean((wave[2000:2400] - wave[2001:2401]) ** 2):.4f}")
