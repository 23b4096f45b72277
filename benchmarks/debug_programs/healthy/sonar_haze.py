"""Depth from an echo, with an honest error bar: the likelihood of a normal distribution, which may go below 0."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(34)


def echoes(count):
    echo = rng.uniform(-1, 1, (count, 2)).astype(np.float32)
    haze = 0.03 + 0.12 * (echo[:, 1] > 0)
    return echo, (np.sin(2 * echo[:, 0]) + haze * rng.standard_normal(count)).astype(np.float32), haze


class Sonar(nn.Module):
    def __init__(self):
        self.trunk = nn.Sequential(nn.Affine(2, 32, rng=rng), np.tanh, nn.Affine(32, 32, rng=rng), np.tanh)
        self.depth, self.log_bar = nn.Affine(32, 1, rng=rng), nn.Affine(32, 1, rng=rng)

    def forward(self, echo):
        h = self.trunk(echo)
        return self.depth(h)[:, 0], np.maximum(self.log_bar(h)[:, 0], -5.0)


def likelihood(model, batch):
    echo, depth = batch
    centre, log_bar = model(echo)
    return (log_bar + 0.5 * ((depth - centre) / np.exp(log_bar)) ** 2).mean()


echo, depth, _ = echoes(800)
sonar = Sonar()
batches = nn.Batches([echo, depth], 40, seed=6)
history = nn.fit(sonar, batches, likelihood, nn.Adam(sonar.parameters(), lr=0.005), epochs=40, clip_norm=5.0,
                 schedule=nn.cosine_schedule(0.005, 40 * len(batches), warmup=20), progress=False)
new_echo, new_depth, haze = echoes(500)
centre, log_bar = (t.numpy() for t in sonar(new_echo))
print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-20:]):.3f}")
print(f"error {np.mean(np.abs(centre - new_depth)):.3f}")
for where, name in [(haze < 0.1, "clear"), (haze > 0.1, "hazy")]:
    print(f"{name}: bar {np.exp(log_bar[where]).mean():.3f}, true {haze[where].mean():.3f}")
