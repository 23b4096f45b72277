# %% Two pictures of a terrarium, ten minutes apart: did the snail move left or right?
import numpy as np
import nn

rng = np.random.default_rng(12)


def pair(count, width=12):
    place = rng.integers(2, width - 2, count)
    way = rng.integers(0, 2, count)
    moved = place + np.where(way == 1, 1, -1) * rng.integers(1, 3, count)
    cells = np.arange(width)
    ground = rng.integers(90, 130, (count, width))

    def picture(centre):
        bright = 60 * np.exp(-((cells - centre[:, None]) ** 2))
        return (ground + rng.integers(-6, 7, (count, width)) + bright).astype(np.uint8)

    return picture(place), picture(moved), way


# %% What has changed between the two
before, after, way = pair(1200)
change = after - before
x = change.astype(np.float32) / 60
print("range of the change:", x.min().round(2), x.max().round(2))

# %% Train on the first 1000
net = nn.Sequential(nn.Affine(12, 20, rng=rng), np.tanh, nn.Affine(20, 2, rng=rng))
opt = nn.SGD(net.parameters(), lr=0.2)
for sweep in range(12):
    for rows in np.array_split(rng.permutation(1000), 25):
        opt.zero_grad()
        loss = nn.cross_entropy(net(x[rows]), way[rows])
        loss.backward()
        opt.step()

# %% And on the rest
print(f"last loss {loss.item():.3f}")
print(f"accuracy {np.mean(net(x[1000:]).numpy().argmax(axis=1) == way[1000:]):.2f}")
