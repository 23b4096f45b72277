import numpy as np
import nn
from minigrad import relu

rng = np.random.default_rng(108)


def genuine(n):
    return rng.normal(4.0, 0.7, (n, 1)).astype(np.float32)


def z(n):
    return rng.normal(size=(n, 2)).astype(np.float32)


forger = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
expert = nn.Sequential(nn.Affine(1, 16, rng=rng), relu, nn.Affine(16, 16, rng=rng), relu, nn.Affine(16, 1, rng=rng))
forger_opt = nn.Adam(forger.parameters(), lr=0.003, betas=(0.5, 0.9))
expert_opt = nn.Adam(expert.parameters(), lr=0.002, betas=(0.5, 0.9))

for turn in range(700):
    x = np.concatenate([genuine(64), forger(z(64)).numpy()])
    verdict = expert(x)
    truth = np.repeat([[1.0], [0.0]], 64, axis=0).astype(np.float32)
    expert_loss = nn.binary_cross_entropy_with_logits(verdict, truth)
    expert_opt.zero_grad()
    expert_loss.backward()
    expert_opt.step()

    forger_loss = nn.binary_cross_entropy_with_logits(expert(forger(z(64))), np.ones((64, 1), np.float32))
    forger_opt.zero_grad()
    forger_loss.backward()
    forger_opt.step()
    if turn % 100 == 0:
        made = forger(z(500)).numpy()
        print(f"{turn:4d} expert {expert_loss.item():.3f} forger {forger_loss.item():.3f} mean {made.mean():.2f} spread {made.std():.2f}")

made = forger(z(1000)).numpy()
print("genuine: mean 4.00, spread 0.70; forged: mean %.2f, spread %.2f" % (made.mean(), made.std()))
