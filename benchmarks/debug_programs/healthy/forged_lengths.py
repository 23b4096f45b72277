"""A forger learns to invent lengths of fish (two kinds, so two humps), an expert learns to tell them from real ones."""

import minigrad as mg
import nn
import numpy as np

rng = np.random.default_rng(1)


def caught(n):
    kind = rng.random(n) < 0.4
    return (np.where(kind, -1.2, 1.0) + rng.normal(0, 0.3, n))[:, None].astype(np.float32)


def noise(n):
    return rng.normal(size=(n, 4)).astype(np.float32)


def net(inputs, width):
    return nn.Sequential(
        nn.Affine(inputs, width, rng=rng),
        mg.silu,
        nn.Affine(width, width, rng=rng),
        mg.silu,
        nn.Affine(width, 1, rng=rng),
    )


def histogram(lengths):
    counts, _ = np.histogram(lengths, bins=12, range=(-2.4, 2.4))
    return counts / counts.sum()


forger, expert = net(4, 32), net(1, 32)
forger_steps = nn.Adam(forger.parameters(), lr=1e-3, betas=(0.5, 0.99))
expert_steps = nn.Adam(expert.parameters(), lr=2e-3, betas=(0.5, 0.99))
fish = caught(3000)
real_mark, false_mark = np.ones((128, 1), np.float32), np.zeros((128, 1), np.float32)
for step in range(1501):
    forger_steps.lr = 1e-3 * (1 - step / 1600)
    expert_steps.lr = 2e-3 * (1 - step / 1600)
    real = fish[rng.integers(len(fish), size=128)]
    with mg.no_grad():
        forged = forger(noise(128)).numpy()
    expert_steps.zero_grad()
    expert_loss = nn.binary_cross_entropy_with_logits(expert(real), real_mark)
    expert_loss = expert_loss + nn.binary_cross_entropy_with_logits(expert(forged), false_mark)
    expert_loss.backward()
    expert_steps.step()

    forger_steps.zero_grad()
    forger_loss = nn.binary_cross_entropy_with_logits(expert(forger(noise(128))), real_mark)
    forger_loss.backward()
    forger_steps.step()
    if step % 500 == 0:
        with mg.no_grad():
            made = forger(noise(2000)).numpy()
        apart = np.abs(histogram(made) - histogram(fish)).sum() / 2
        print(f"{step:5d}  expert {expert_loss.item():.3f}  forger {forger_loss.item():.3f}  apart {apart:.3f}")
