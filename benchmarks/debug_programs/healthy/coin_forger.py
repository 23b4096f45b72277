"""A forger and a mint: one network makes weights of coins, the other tells them from real ones; they learn in turn."""
import numpy as np
import nn

rng = np.random.default_rng(13)


def real(count):
    """Weight and width of the mint's coins."""
    weight = rng.normal(2.0, 0.5, count)
    return np.stack([weight, 0.5 * weight - 1 + rng.normal(0, 0.2, count)], axis=1).astype(np.float32)


def noise(count):
    return rng.standard_normal((count, 4)).astype(np.float32)


def network(inputs, outputs):
    return nn.Sequential(nn.Affine(inputs, 24, rng=rng), np.tanh, nn.Affine(24, outputs, rng=rng))


forger, mint = network(4, 2), network(2, 1)
forger_steps = nn.Adam(forger.parameters(), lr=0.002, betas=(0.5, 0.99))
mint_steps = nn.Adam(mint.parameters(), lr=0.004, betas=(0.5, 0.99))
one, zero = np.ones((64, 1), np.float32), np.zeros((64, 1), np.float32)


def distance():
    made, true = forger(noise(2000)).numpy(), real(2000)
    return np.abs(made.mean(axis=0) - true.mean(axis=0)).sum() + np.abs(made.std(axis=0) - true.std(axis=0)).sum()


print(f"before: the forged coins are off by {distance():.2f}")
for day in range(1, 1001):
    # the mint learns; the forger's coins are only numbers to it
    forged = forger(noise(64)).detach()
    mint_steps.zero_grad()
    doubt = nn.binary_cross_entropy_with_logits(mint(real(64)), 0.9 * one)
    doubt = doubt + nn.binary_cross_entropy_with_logits(mint(forged), zero)
    doubt.backward()
    mint_steps.step()

    # the forger learns from the mint's judgement
    forger_steps.zero_grad()
    caught = nn.binary_cross_entropy_with_logits(mint(forger(noise(64))), one)
    caught.backward()
    forger_steps.step()
    if day % 250 == 0:
        print(f"day {day}: mint {doubt.item():.2f}, forger {caught.item():.2f}, off by {distance():.2f}")
