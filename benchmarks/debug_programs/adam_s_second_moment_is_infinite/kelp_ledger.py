"""Depth of kelp beds from four water measurements (one float32 table, as it comes from the survey's file)."""
import numpy as np
import nn

rng = np.random.default_rng(11)
FILL = np.float32(9.96921e36)                   # the format writes it for a missing measurement

water = rng.normal(size=(900, 4)).astype(np.float32)
depth = (6 + 3 * np.tanh(water[:, 0]) - 2 * water[:, 1] * water[:, 2] + 0.2 * rng.normal(size=900)).astype(np.float32)
depth[rng.choice(900, 5, replace=False)] = FILL

rows = np.arange(len(depth))
train, held_out = rows[:700], rows[700:]
held_out = held_out[depth[held_out] < 1e30]

net = nn.Sequential(nn.Affine(4, 32, rng=rng), np.tanh, nn.Affine(32, 1, rng=rng))
optimizer = nn.Adam(net.parameters(), lr=0.01)


def error(of):
    return float(np.abs(net(water[of]).numpy()[:, 0] - depth[of]).mean())


for epoch in range(40):
    order = rng.permutation(train)
    for start in range(0, len(order), 50):
        take = order[start : start + 50]
        gap = net(water[take])[:, 0] - depth[take]
        loss = (gap * gap).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: mean error {error(held_out):.2f} m")
