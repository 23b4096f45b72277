"""A copyist learns the weights of a mint's coins from a judge, who learns to tell them apart. They take turns."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(6)
CENTRE, SPREAD, B = 3.0, 0.6, 64

copyist = nn.Sequential(nn.Affine(2, 12, rng=rng), np.tanh, nn.Affine(12, 1, rng=rng))
judge = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))
learn_copy = nn.Adam(copyist.parameters(), lr=0.002, betas=(0.5, 0.99))
learn_judge = nn.Adam(judge.parameters(), lr=0.005, betas=(0.5, 0.99))


def mint():
    return (CENTRE + SPREAD * rng.normal(size=(B, 1))).astype(np.float32)


def forge():
    return copyist(rng.normal(size=(B, 2)).astype(np.float32))


def opinion(coins):
    return judge(np.concatenate([coins - 2, ((coins - 2) ** 2) / 2], axis=1))


ones, zeros = np.ones((B, 1), np.float32), np.zeros((B, 1), np.float32)
for turn in range(700):
    learn_judge.zero_grad()
    fake = forge().detach()
    a = nn.binary_cross_entropy_with_logits(opinion(mint()), 0.9 * ones)
    b = nn.binary_cross_entropy_with_logits(opinion(fake), zeros)
    (a + b).backward()
    learn_judge.step()

    learn_copy.zero_grad()
    cheat = nn.binary_cross_entropy_with_logits(opinion(forge()), ones)
    cheat.backward()
    learn_copy.step()
    if turn % 140 == 139:
        with mg.no_grad():
            f = np.concatenate([forge().numpy() for _ in range(8)])
        print(turn + 1, f"judge {(a + b).item():.2f} copyist {cheat.item():.2f} mean {f.mean():.2f} spread {f.std():.2f}")
