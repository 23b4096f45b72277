# How long does a cart take over the hills? A step of the optimizer for every four cartloads of data.
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(90)
hills = rng.uniform(0, 1, size=(1200, 6)).astype(np.float32)
hours = (np.abs(np.diff(hills, axis=1)).sum(axis=1) * (1 + hills[:, 0]))[:, None].astype(np.float32)
train_x, train_y, test_x, test_y = hills[:1000], hours[:1000], hills[1000:], hours[1000:]

LOADS = 4
net = nn.Sequential(nn.Affine(6, 48, rng=rng), mg.relu, nn.Affine(48, 48, rng=rng), mg.relu, nn.Affine(48, 1, rng=rng))
optimizer = nn.Adam(net.parameters(), lr=0.004)
optimizer.zero_grad()
seen = 0
for journey in range(80):
    order = rng.permutation(1000).reshape(-1, 25)
    total = 0.0
    for pick in order:
        loss = nn.mean_squared_error(net(train_x[pick]), train_y[pick]) / LOADS
        loss.backward()
        total += loss.item() * LOADS / len(order)
        seen += 1
        if seen % LOADS == 0:
            optimizer.step()
            optimizer.zero_grad()
    if journey % 16 == 15:
        print(f"journey {journey + 1:2d}: {total:.5f}")
with mg.no_grad():
    print(f"new hills {nn.mean_squared_error(net(test_x), test_y).item():.5f}, variance {test_y.var():.4f}")
