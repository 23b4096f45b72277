# Salmon per hour at a weir: one network learns the count, a second one how uncertain it is. They learn in turn.
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(71)
N = 360
water = rng.uniform(-1, 1, (N, 3)).astype(np.float32)
noise = (0.1 + 0.5 * (water[:, :1] > 0) * water[:, :1]).astype(np.float32)
count = (np.sin(2 * water[:, 1:2]) + 0.5 * water[:, 2:] + noise * rng.standard_normal((N, 1))).astype(np.float32)


def network(width):
    return nn.Sequential(nn.Affine(3, width, rng=rng), mg.silu, nn.Affine(width, 1, rng=rng))


expected, doubt = network(24), network(12)
learn_expected = nn.Adam(expected.parameters(), lr=0.01)
learn_doubt = nn.Adam(doubt.parameters(), lr=0.01)


def surprise(miss, log_variance):
    return (0.5 * (log_variance + miss ** 2 * np.exp(-log_variance))).mean()


for step in range(600):
    rows = rng.choice(300, 60, replace=False)
    if step % 2 == 0:
        trust = doubt(water[rows]).detach()
        learn_expected.zero_grad()
        loss = surprise(expected(water[rows]) - count[rows], trust)
        loss.backward()
        learn_expected.step()
    else:
        miss = (expected(water[rows]) - count[rows]).detach()
        learn_doubt.zero_grad()
        loss = surprise(miss, doubt(water[rows]))
        loss.backward()
        learn_doubt.step()
    if step % 100 > 97:
        print(f"{step:3d}  {loss.item():.4f}")

with mg.no_grad():
    last = surprise(expected(water[300:]) - count[300:], doubt(water[300:]))
    gap = np.abs(np.exp(0.5 * doubt(water[300:]).numpy()) - noise[300:]).mean()
print(f"other hours {last.item():.4f}, the spread is off by {gap:.3f}, count variance {count.var():.3f}")
