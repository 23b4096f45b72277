# %% The pen of a pendulum stays within its frame: x and y are never beyond 0.9
import numpy as np
import minigrad as mg
import nn

FRAME = 0.9
rng = np.random.default_rng(60)
time = rng.uniform(0, 1, (500, 1)).astype(np.float32)
ink = FRAME * np.concatenate([np.sin(5 * time), np.cos(4 * time)], axis=1)

# %% A network whose output is bounded too
class Pen(nn.Module):
    def __init__(self, rng):
        self.up, self.on = nn.Affine(1, 40, rng=rng), nn.Affine(40, 2, rng=rng)
        self.up.weight.data[:] *= 5
        self.up.bias.data[:] = rng.uniform(-4, 4, 40)

    def forward(self, t):
        return np.tanh(self.on(np.tanh(self.up(t))))


pen = Pen(rng)
steps = 600
schedule = nn.cosine_schedule(0.02, steps, warmup=30)
adam = nn.Adam(pen.parameters())
for step in range(steps):
    adam.lr = schedule(step)
    rows = rng.integers(0, 400, 50)
    adam.zero_grad()
    loss = nn.mean_squared_error(pen(time[rows]), ink[rows])
    loss.backward()
    adam.step()
    if step % 150 == 0:
        print(f"{step:3d} {loss.item():.4f}")

# %% Times that were not used
with mg.no_grad():
    drawn = pen(time[400:]).numpy()
print(f"error {np.mean((drawn - ink[400:]) ** 2):.5f}, reach {drawn.min():.2f} to {drawn.max():.2f}, last rate {adam.lr:.5f}")
