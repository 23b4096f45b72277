"""Fit the echo of a cave from three starts and keep the best of them."""

import minigrad as mg
import nn
import numpy as np

STARTS, STEPS = 3, 600


class Echo(nn.Module):
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.enter = nn.Affine(1, 32, rng=rng)
        self.middle = nn.Affine(32, 32, rng=rng)
        self.leave = nn.Affine(32, 1, rng=rng)
        self.enter.weight.data *= 4
        self.enter.bias.data[:] = rng.uniform(-4, 4, 32)

    def forward(self, t):
        return self.leave(np.tanh(self.middle(np.tanh(self.enter(t)))))


def recorded(n, rng):
    t = np.sort(rng.uniform(-1, 1, n))[:, None]
    sound = np.exp(-1.5 * (t + 1)) * np.cos(9 * t)
    return t.astype(np.float32), (sound + rng.normal(0, 0.02, sound.shape)).astype(np.float32)


rng = np.random.default_rng(6)
t, sound = recorded(300, rng)
t_new, sound_new = recorded(200, rng)
model = Echo(0)
optimizer = nn.Adam(model.parameters(), lr=0.01)
errors = []
for start in range(STARTS):
    model = Echo(start)
    for step in range(STEPS):
        optimizer.lr = 0.01 * (1 - step / STEPS)
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(t), sound)
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            print(f"start {start} step {step:3d} loss {loss.item():.4f}")
    with mg.no_grad():
        errors.append(nn.mean_squared_error(model(t_new), sound_new).item() ** 0.5)
print("error of each start:", np.round(errors, 4))
print(f"best: {min(errors):.4f}; a flat line has {sound_new.std():.4f}")
