"""A GAN draws length and width of barley grains."""
import numpy as np
import nn

rng = np.random.default_rng(15)
MEAN, MIX = np.array([1.0, -0.6]), np.array([[0.5, 0.0], [0.3, 0.3]])


def grains(n):
    return (MEAN + rng.standard_normal((n, 2)) @ MIX.T).astype(np.float32)


def mlp(*sizes):
    layers = []
    for m, n in zip(sizes, sizes[1:]):
        layers += [nn.Affine(m, n, rng=rng), np.tanh]
    return nn.Sequential(*layers[:-1])


def noise(n):
    return rng.standard_normal((n, 3)).astype(np.float32)


G, D = mlp(3, 24, 2), mlp(2, 32, 1)
opt_g = nn.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.99))
opt_d = nn.Adam(D.parameters(), lr=4e-3, betas=(0.5, 0.99))
bce = nn.binary_cross_entropy_with_logits
ones, zeros = np.ones((64, 1), np.float32), np.zeros((64, 1), np.float32)

for step in range(900):
    fake = G(noise(64))
    opt_d.zero_grad()
    loss_d = bce(D(grains(64)), ones) + bce(D(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()

    opt_g.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()
    if step % 180 == 0:
        print(f"{step:5d}  D {loss_d.item():.3f}  G {loss_g.item():.3f}")

start = np.linalg.norm(MEAN)
drawn = G(noise(2000)).numpy()
print("mean drawn", drawn.mean(axis=0).round(2), "wanted", MEAN, "deviation", drawn.std(axis=0).round(2), "wanted", np.sqrt((MIX @ MIX.T).diagonal()).round(2))
print(f"distance of the means {np.linalg.norm(drawn.mean(axis=0) - MEAN):.3f}, from zero it was {start:.3f}")
