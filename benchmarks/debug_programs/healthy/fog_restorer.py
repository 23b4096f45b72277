"""Clean up foghorn recordings: the network gets a noisy copy of what it should give back."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(31)
t = np.linspace(0, 1, 40)


def horns(n):
    pitch, phase, loud = rng.uniform(1, 4, (n, 1)), rng.uniform(0, 6.28, (n, 1)), rng.uniform(0.5, 1.5, (n, 1))
    return (loud * np.sin(2 * np.pi * pitch * t + phase)).astype(np.float32)


def with_fog(clean):
    return clean + rng.normal(0, 0.5, clean.shape).astype(np.float32)


class Restorer(nn.Module):
    def __init__(self, rng):
        self.down, self.up = nn.Affine(40, 32, rng=rng), nn.Affine(32, 40, rng=rng)

    def forward(self, heard):
        return self.up(np.tanh(self.down(heard)))


clean, unseen = horns(1000), horns(200)
unseen_heard = with_fog(unseen)
model = Restorer(rng)
optimizer = nn.Adam(model.parameters(), lr=0.003)
for epoch in range(40):
    for start in range(0, 1000, 50):
        target = clean[start : start + 50]
        loss = nn.mean_squared_error(model(with_fog(target)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        with mg.no_grad():
            left = ((model(unseen_heard).numpy() - unseen) ** 2).mean()
        print(f"epoch {epoch + 1}: noise left {left:.3f}, before {((unseen_heard - unseen) ** 2).mean():.3f}")
