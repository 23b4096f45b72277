"""A critic and a generator: draw two measurements of irises of one kind."""
import numpy as np
import nn

rng = np.random.default_rng(15)
MEAN, MIX = np.array([1.9, -0.8]), np.array([[0.5, 0.0], [0.35, 0.25]])


def flowers(n):
    return (MEAN + rng.standard_normal((n, 2)) @ MIX.T).astype(np.float32)


def mlp(*sizes):
    layers = []
    for m, n in zip(sizes, sizes[1:]):
        layers += [nn.Affine(m, n, rng=rng), np.tanh]
    return nn.Sequential(*layers[:-1])


def noise(n):
    return rng.standard_normal((n, 3)).astype(np.float32)


G, D = mlp(3, 24, 2), mlp(2, 24, 1)
opt_g, opt_d = nn.RMSProp(G.parameters(), lr=2e-3), nn.RMSProp(D.parameters(), lr=4e-3)

for step in range(1000):
    fake = G(noise(64))
    loss_d = D(fake.detach()).mean() - D(flowers(64)).mean()
    loss_d.backward()
    opt_d.step()
    for p in D.parameters():
        p.data[...] = np.clip(p.data, -0.3, 0.3)
    opt_d.zero_grad()

    opt_g.zero_grad()
    loss_g = -D(fake).mean()
    loss_g.backward()
    opt_g.step()
    if step % 200 == 0:
        print(f"{step:5d}  D {loss_d.item():+.3f}  G {loss_g.item():+.3f}")

drawn = G(noise(2000)).numpy()
print("mean drawn", drawn.mean(axis=0).round(2), "wanted", MEAN, "deviation", drawn.std(axis=0).round(2))
print(f"distance of the means {np.linalg.norm(drawn.mean(axis=0) - MEAN):.3f}")
