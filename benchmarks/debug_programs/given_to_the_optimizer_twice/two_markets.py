"""Fish prices in two towns: a shared trunk, and a head for each town."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(17)
x = rng.normal(size=(200, 6))
mix = rng.normal(size=(6, 3)) / 2
common = np.tanh(x @ mix)
north = common @ [1.0, -2.0, 0.5] + 0.05 * rng.normal(size=200)
south = common @ [0.5, 1.5, -1.0] + 0.05 * rng.normal(size=200)


def layer(a, b):
    return [
        mg.Tensor(rng.normal(size=(a, b)) / np.sqrt(a), requires_grad=True),
        mg.Tensor(np.zeros(b), requires_grad=True),
    ]


trunk = layer(6, 20) + layer(20, 20)
head_n, head_s = layer(20, 1), layer(20, 1)


def features(x):
    W, b, V, c = trunk
    return np.tanh(np.tanh(x @ W + b) @ V + c)


def price(head, h):
    W, b = head
    return (h @ W + b)[:, 0]


RATE = 0.25
optimizers = [nn.SGD(trunk + head_n, lr=RATE, momentum=0.5), nn.SGD(trunk + head_s, lr=RATE, momentum=0.5)]

for step in range(300):
    rows = rng.integers(0, 160, 40)
    h = features(x[rows])
    loss = ((price(head_n, h) - north[rows]) ** 2).mean() + ((price(head_s, h) - south[rows]) ** 2).mean()
    for o in optimizers:
        o.zero_grad()
    loss.backward()
    for o in optimizers:
        o.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 4))

with mg.no_grad():
    h = features(x[160:])
    print("north", np.mean((price(head_n, h).numpy() - north[160:]) ** 2).round(4))
    print("south", np.mean((price(head_s, h).numpy() - south[160:]) ** 2).round(4))
