# A recurrent network reads one long wave in pieces of ten; the state goes on, its history does not.
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(103)
time = np.arange(4001) * 0.3
wave = np.sin(time) + 0.5 * np.sin(0.37 * time)
SIZE, PIECE = 16, 10

Wx = Tensor(rng.normal(0, 0.5, (1, SIZE)), requires_grad=True)
Wh = Tensor(rng.normal(0, 0.8 / np.sqrt(SIZE), (SIZE, SIZE)), requires_grad=True)
Wo = Tensor(rng.normal(0, 0.3, (SIZE, 1)), requires_grad=True)
bias = Tensor(np.zeros(SIZE), requires_grad=True)
everything = [Wx, Wh, Wo, bias]

h = Tensor(np.zeros((1, SIZE)))
errors = []
for start in range(0, 4000, PIECE):
    h = h.detach()
    loss = 0.0
    for t in range(start, start + PIECE):
        h = np.tanh(wave[t] * Wx + h @ Wh + bias)
        loss = loss + ((h @ Wo)[0, 0] - wave[t + 1]) ** 2 / PIECE
    loss.backward()
    for p in everything:
        p.data -= 0.05 * np.clip(p.grad.numpy(), -1.0, 1.0)
        p.zero_grad()
    errors.append(loss.item())

for piece in range(0, 400, 80):
    print(piece, round(float(np.mean(errors[piece : piece + 80])), 5))
