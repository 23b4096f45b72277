import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(50)


def real_points(n):
    angle = rng.uniform(0, np.pi, n)
    arc = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (2.0 + arc + 0.05 * rng.normal(size=(n, 2))).astype(np.float32)


def noise(n):
    return rng.normal(size=(n, 4)).astype(np.float32)


G = nn.Sequential(nn.Affine(4, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))
D = nn.Sequential(nn.Affine(2, 24, rng=rng), mg.silu, nn.Affine(24, 1, rng=rng))
opt_g = nn.Adam(G.parameters(), lr=0.004, betas=(0.5, 0.99))
opt_d = nn.Adam(D.parameters(), lr=0.004, betas=(0.5, 0.99))
ones, zeros = np.ones((64, 1), np.float32), np.zeros((64, 1), np.float32)

for it in range(500):
    fake = G(noise(64))

    opt_d.zero_grad()
    d_loss = nn.binary_cross_entropy_with_logits(D(real_points(64)), ones)
    d_loss = d_loss + nn.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    verdict = D(fake.detach())
    g_loss = nn.binary_cross_entropy_with_logits(verdict, ones)
    g_loss.backward()
    opt_g.step()
    if it % 100 == 0:
        print(it, "d", round(d_loss.item(), 3), "g", round(g_loss.item(), 3))

made = G(noise(400)).numpy()
print("d", round(d_loss.item(), 3), "g", round(g_loss.item(), 3))
print("centre of real points", real_points(400).mean(axis=0).round(2), "of made points", made.mean(axis=0).round(2))
