# %% First task: which way does the bar lean?
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(11)
row, col = np.mgrid[0:9, 0:9] - 4.0


def bars(n):
    angle, place = rng.uniform(0, np.pi, n), rng.uniform(-2, 2, n)
    across = col * np.sin(angle)[:, None, None] - row * np.cos(angle)[:, None, None] - place[:, None, None]
    return (np.exp(-(across**2)) + rng.normal(0, 0.15, (n, 9, 9))).astype(np.float32).reshape(n, 81), angle, place


body = nn.Sequential(nn.Affine(81, 48, rng=rng), mg.relu, nn.Affine(48, 24, rng=rng), mg.relu)
lean = nn.Affine(24, 4, rng=rng)
x, angle, place = bars(1500)
sector = (angle / np.pi * 4).astype(np.int64) % 4
opt = nn.Adam([*body.parameters(), *lean.parameters()], lr=3e-3)
for epoch in range(10):
    for rows in rng.permutation(1500).reshape(-1, 50):
        opt.zero_grad()
        loss = nn.cross_entropy(lean(body(x[rows])), sector[rows])
        loss.backward()
        opt.step()
print(f"first task: loss {loss.item():.3f}")

# %% Second task, with few pictures: is it steep? The body stays as it is.
for p in body.parameters():
    p.requires_grad = False
x2, angle2, _ = bars(200)
steep = (np.abs(angle2 - np.pi / 2) < np.pi / 4).astype(np.int64)
head = nn.Affine(24, 2, rng=rng)
opt = nn.Adam(head.parameters(), lr=0.02)
for step in range(150):
    rows = rng.integers(0, 200, 40)
    opt.zero_grad()
    loss = nn.cross_entropy(head(body(x2[rows])), steep[rows])
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"second task: step {step:3d} loss {loss.item():.3f}")

# %%
x3, angle3, _ = bars(500)
steep3 = np.abs(angle3 - np.pi / 2) < np.pi / 4
print(f"steep bars told apart: {np.mean(head(body(x3)).numpy().argmax(axis=1) == steep3):.3f}")
